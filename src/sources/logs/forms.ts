import { refuseUnknown } from "../../base/check-options.js";
import { checkRange } from "../../time/time-range.js";
import { ProbelabError } from "../../base/error.js";
import { shownValue } from "../../base/text.js";
import type { Database } from "../../database/database.js";
import type { By } from "../../query/ask.js";
import { count, quantile, share } from "../../query/measure.js";
import { bind, join, raw, sql, type Sql } from "../../query/sql.js";
import type { Result } from "../../result/result.js";
import type { Bucket } from "../../time/bucket.js";
import { askLog, GROUPED_OPTIONS, type LogGroup, type LogGroupOptions } from "./ask.js";
import { fieldText } from "./lines.js";

/**
 * Patterns of a deployment's log lines (`tables.logs.forms`), in RE2's syntax: one or a list. They are
 * tried before the ready ones, and the first that matches a line reads it.
 */
export interface LogForms {
  /**
   * A submitted report. The first brackets hold its id, the second (optional) the answer, which begins
   * with the HTTP status: `^stored=(\S+) code=(\d+)$`. A line without a status counts as accepted.
   */
  readonly submission?: string | readonly string[];
  /** A list of URLs that check-in returned. The first brackets hold its length: `gave (\d+) links`. */
  readonly checkIn?: string | readonly string[];
}

/** A prefix of a line, such as `api[12]: ` or `2026-05-01 12:00:00 INFO `. */
const PREFIX = "(?:^|[\\]):|] |\\b(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|debug|info|notice) )";
/** A report's path below any other; with something after the id (`/close`) it is no submission. */
const PATH = '[^ "?]*/report/([^ "?/:,]+)/?(?:\\?[^ "]*)?';
const STATUS = "[1-5][0-9]{2}";

const READY: Readonly<Record<keyof LogForms, readonly string[]>> = {
  submission: [
    // POST /report/ID from 203.0.113.9: 200, 3 measurements
    `${PREFIX}POST ${PATH}(?:(?: .*?(?:: |[-=]> ?|\\bstatus[=:] ?)|:? )(${STATUS}(?:[ ,;].*)?)$|[ :].*$|$)`,
    // The common and combined forms of nginx and Apache, with a virtual host before them or not:
    // 203.0.113.9 - - [01/May/2026:12:00:00 +0000] "POST /report/ID HTTP/1.1" 200 157 "-" "probe/3.20"
    `"POST ${PATH}(?: HTTP/[0-9.]+)?" (${STATUS})\\b`,
    // {"method": "POST", "path": "/report/ID", "status": 200} or "request": "POST /report/ID HTTP/1.1"
    `^[^{]*\\{.*(?:"POST".*"|"POST )${PATH}(?: HTTP/[0-9.]+)?"(?:.*"status(?:_code)?" ?: ?"?(${STATUS})\\b)?`,
  ],
  checkIn: [
    // check-in probe-cli/3.20 probe_cc=IT from 203.0.113.9: 100 URLs
    `${PREFIX}check-in .*?\\b([0-9]+) URLs`,
    // {"path": "/api/v1/check-in", …, "urls": 100}
    `^[^{]*\\{.*\\bcheck-in\\b.*"(?:urls|url_count|urls_count|num_urls)" ?: ?"?([0-9]+)\\b`,
  ],
};

/**
 * Checks the forms of a configuration.
 *
 * @throws ProbelabError for an unknown name, or a pattern without brackets.
 */
export function checkForms(forms: LogForms): LogForms {
  refuseUnknown(forms, Object.keys(READY), "use tables.logs.forms");
  for (const line of ["submission", "checkIn"] as const) patternsOf(line, forms);
  return forms;
}

/** The patterns of a kind of line, in the order in which they are tried. */
function patternsOf(line: keyof LogForms, forms: LogForms): readonly string[] {
  const own = [forms[line] ?? []].flat();
  for (const pattern of own) {
    if (typeof pattern === "string" && /(?:^|[^\\])\((?!\?(?!P?<))/.test(pattern)) continue;
    throw new ProbelabError(
      `Can't use ${shownValue(pattern)} in tables.logs.forms.${line}: pass a pattern whose first brackets hold the ${line === "submission" ? "report's id" : "number of URLs"}.`,
    );
  }
  return [...own, ...READY[line]];
}

/**
 * SQL for lines of a form: a condition, and an array of what the brackets of the first pattern that
 * matches hold.
 *
 * @param message SQL of a text that is not null.
 */
export function formSql(line: keyof LogForms, forms: LogForms, message: Sql) {
  const bound = patternsOf(line, forms).map((pattern) => bind("form", "String", pattern));
  const matches = bound.map((pattern) => sql`match(${message}, ${pattern})`);
  const groups = bound.map((pattern) => sql`extractGroups(${message}, ${pattern})`);
  return {
    is: sql`(${join(matches, " OR ")})`,
    groups: sql`arrayFirst(groups -> notEmpty(groups), [${join(groups)}])`,
  };
}

/** Options of `lab.logs.checkIn`. */
export interface CheckInOptions<
  B extends By<LogGroup | "urls"> = By<LogGroup | "urls">,
> extends Omit<LogGroupOptions, "by"> {
  /** The bucket of time, as for `rates`. @default `"hour"` */
  readonly every?: Bucket | "auto" | "all";
  /** Columns, or `"urls"`, the length of the list. */
  readonly by?: B;
}

/** `lab.logs.checkIn`: see {@link Logs.checkIn}. */
export async function checkIn(
  database: Database,
  options: CheckInOptions,
  forms: LogForms,
): Promise<Result> {
  const action = "count check-in lists";
  refuseUnknown(options, GROUPED_OPTIONS, action);
  checkRange((options as CheckInOptions | undefined)?.range, action);
  const table = await database.table("logs");
  const form = formSql("checkIn", forms, raw(fieldText("message", table)));
  const length = sql`toUInt32OrNull(${form.groups}[1])`;
  const [label, unit] = ["URLs in a check-in list", "URLs"];
  const urls = (level: number, name: string) =>
    quantile(level, "urls", { label: `${label}, ${name}` });
  const measures = {
    lists: count({ label: "Check-in lists", unit: "lists" }),
    hundred: share({ urls: 100 }, { label: "Share of lists with 100 URLs" }),
    fewest: urls(0, "fewest"),
    q10: urls(0.1, "10th percentile"),
    q50: urls(0.5, "median"),
    q90: urls(0.9, "90th percentile"),
    most: urls(1, "most"),
  };
  const kind = {
    only: [form.is, sql`isNotNull(${length})`],
    computed: { urls: { type: "UInt32", label, unit, sql: sql`assumeNotNull(${length})` } },
    rowNoun: "lists",
  };
  const asked = { ...options, every: options.every ?? "hour" };
  const result = await askLog(database, asked, measures, action, kind);
  if (result.numRows() > 0) return result;
  const note =
    "No line has a known form of a check-in list. If yours look otherwise, give their pattern in tables.logs.forms.checkIn.";
  return result.with(result.table, { notes: [...result.origin.notes, note] });
}
