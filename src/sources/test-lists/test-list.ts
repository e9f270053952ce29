import type { Origin } from "../../result/origin.js";
import { Result, type Value } from "../../result/result.js";
import { between, type TimeRange } from "../../time/time-range.js";

/** An entry of a test list: its URL and the other fields that the endpoint gives. */
export interface TestListEntry {
  readonly url: string;
  readonly [field: string]: unknown;
}

/** The note of every list: section 4 of the service's documentation. */
export const COUNTRY_WIDE =
  "A country-wide list can mislead: the service sets priorities per country and network (probe_cc, probe_asn), so no probe need see this order.";

/** A row of a test list. */
export type TestListRow = { priority: number; url: string } & Record<string, Value>;

/** A test list: a Result with a row per entry, `priority` from 1 (the highest), `url`, other fields. */
export class TestList extends Result<TestListRow> {
  /** Two letters, such as `IT`. */
  readonly country: string;
  /** The entries as they came, the highest priority first. */
  readonly entries: readonly TestListEntry[];

  /** Its range is the time of the request. */
  declare readonly origin: Origin & { readonly range: TimeRange };

  private constructor(
    table: Result["table"],
    origin: Origin,
    country: string,
    entries: readonly TestListEntry[],
  ) {
    super(table, origin);
    this.country = country;
    this.entries = entries;
  }

  /** Makes a list of entries that were asked for at a time, and answered now. */
  static async of(
    country: string,
    entries: readonly TestListEntry[],
    answer: Pick<Origin, "source" | "parameters" | "bytesRead" | "askedAt">,
  ): Promise<TestList> {
    const aq = await import("arquero");
    const milliseconds = Math.max(1, Date.now() - answer.askedAt.getTime());
    const fields = new Set(entries.flatMap((entry) => Object.keys(entry)));
    for (const taken of ["url", "priority"]) fields.delete(taken);
    const columns: Record<string, Value[]> = {
      priority: entries.map((_, index) => index + 1),
      url: entries.map(({ url }) => url),
    };
    for (const field of fields) columns[field] = entries.map((entry) => cell(entry[field]));
    const origin: Origin = {
      ...answer,
      sql: "",
      server: "",
      range: between(answer.askedAt, new Date(answer.askedAt.getTime() + milliseconds)),
      rowsRead: entries.length,
      seconds: milliseconds / 1000,
      columns: { dimensions: [], measures: [] },
      reductions: [],
      notes: [COUNTRY_WIDE],
    };
    return new TestList(aq.table(columns), origin, country, entries);
  }
}

/** A field's value as a cell: numbers, texts and booleans as they are, the rest as JSON. */
function cell(value: unknown): Value {
  if (value === undefined || value === null) return null;
  return typeof value === "object" ? JSON.stringify(value) : value;
}
