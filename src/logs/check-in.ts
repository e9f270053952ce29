import { refuseUnknown } from "../base/check-options.js";
import type { Database } from "../database/database.js";
import { ProbelabError } from "../base/error.js";
import { count, quantile, share, type Measure } from "../query/measure.js";
import { printed, raw, sql } from "../query/sql.js";
import { formsOf, formSql, groupSql, type Form, type LogForms } from "./forms.js";
import type { Result } from "../result/result.js";
import type { Bucket } from "../time/bucket.js";
import { LOG_FILTERS } from "./log-filter.js";
import { logTable, messageText } from "./log-table.js";
import type { LogOptions } from "./log-question.js";
import { askLogLines } from "./rates.js";

/** What questions on check-in lists take besides. */
export interface CheckInOptions extends LogOptions {
  /** The bucket of time, as for `rates`; default `"hour"`. */
  readonly every?: Bucket | "auto" | "all";
  /**
   * How a line tells a list's length: a pattern (RE2) whose first bracket is the number. Default:
   * the deployment's forms (`tables.logs.forms.checkIn`), else the ready ones.
   */
  readonly length?: string;
}

/** What a distribution takes besides. */
export interface CheckInLengthOptions extends CheckInOptions {
  /** How many lengths keep their own row, the commonest first; the rest is "other". Default 6. */
  readonly top?: number;
}

const OPTIONS = ["range", "every", "length", "mask", "signal", ...LOG_FILTERS];

/** `lab.logs.checkIn`: see {@link Logs.checkIn}. */
export async function checkIn(
  database: Database,
  options: CheckInOptions,
  forms: LogForms,
): Promise<Result> {
  refuseUnknown(options, OPTIONS, "count check-in lists");
  const urls = (level: number, label: string) =>
    quantile(level, "urls", { label: `URLs in a check-in list, ${label}` });
  return question(
    database,
    options,
    [],
    {
      lists: LISTS,
      hundred: share({ urls: 100 }, { label: "Share of lists with 100 URLs" }),
      fewest: urls(0, "fewest"),
      q10: urls(0.1, "10th percentile"),
      q50: urls(0.5, "median"),
      q90: urls(0.9, "90th percentile"),
      most: urls(1, "most"),
    },
    forms,
  );
}

/** `lab.logs.checkInLengths`: see {@link Logs.checkInLengths}. */
export async function checkInLengths(
  database: Database,
  options: CheckInLengthOptions,
  forms: LogForms,
): Promise<Result> {
  refuseUnknown(options, [...OPTIONS, "top"], "count check-in lists");
  return question(database, options, ["urls"], { lists: LISTS }, forms);
}

const LISTS = count({ label: "Check-in lists", unit: "lists" });

async function question(
  database: Database,
  options: CheckInLengthOptions,
  by: readonly string[],
  measures: Readonly<Record<string, Measure<unknown>>>,
  configured: LogForms,
): Promise<Result> {
  const { length, every = "hour", ...rest } = options;
  const forms = length === undefined ? formsOf("checkIn", configured) : [lengthForm(length)];
  const table = await logTable(database);
  const message = messageText(table);
  const form = formSql(forms, message);
  const found = sql`toUInt32OrNull(${raw(groupSql(forms, "urls", message, form.sql))})`;
  // The patterns are bound with the condition; the column's SQL uses the same.
  const isList = sql`${printed(form)} > 0`;
  const result = await askLogLines(
    database,
    { ...rest, every, by },
    measures,
    "count check-in lists",
    {
      only: [isList, sql`isNotNull(${found})`],
      computed: {
        urls: {
          sql: sql`assumeNotNull(${found})`,
          type: "UInt32",
          label: "URLs in a check-in list",
          unit: "URLs",
        },
      },
      many: "lists",
    },
  );
  if (result.numRows > 0) return result;
  const names = forms.map(({ name }) => name).join(", ");
  const notes = [
    ...result.origin.notes,
    `Read are check-in lines of the form ${names}: if yours look otherwise, say how in tables.logs.forms.checkIn, or pass length.`,
  ];
  return result.with(result.table, { notes });
}

/** A pattern whose first bracket is the length. */
function lengthForm(length: unknown): Form {
  if (typeof length === "string" && /(^|[^\\])\((?!\?)/.test(length)) {
    return { name: length, pattern: length, groups: new Map([["urls", 1]]) };
  }
  throw new ProbelabError(
    `Can't find the lengths of check-in lists by ${JSON.stringify(length)}: pass a pattern with the number in brackets, such as length: "(\\\\d+) URLs".`,
  );
}
