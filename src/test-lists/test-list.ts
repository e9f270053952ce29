import type { Origin } from "../result/origin.js";
import { Result, type Value } from "../result/result.js";
import { ProbelabError } from "../base/error.js";
import { between, type TimeRange } from "../time/time-range.js";

/** An entry of a test list: its URL, and whatever else the endpoint gives. */
export interface TestListEntry {
  readonly url: string;
  readonly [field: string]: unknown;
}

/** Said with every list of a whole country: section 4 of the service's documentation. */
export const COUNTRY_WIDE =
  "A country-wide list can mislead: the service sets priorities per country and network (probe_cc, probe_asn), so no probe need see this order.";

/** A row of a test list, with what else the endpoint gives. */
export type TestListRow = { priority: number; url: string } & Record<string, Value>;

/** A test list: a Result with a row per entry, `priority` from 1 (the highest), `url`, other fields. */
export class TestList extends Result<TestListRow> {
  /** Two letters, such as `IT`. */
  readonly country: string;
  /** The entries as they came, unknown fields and all, the highest priority first. */
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

  /** A list of entries; `origin` tells where they come from. */
  static async of(
    country: string,
    entries: readonly TestListEntry[],
    origin: Pick<Origin, "source" | "parameters" | "bytesRead" | "askedAt"> & {
      readonly answeredAt: Date;
    },
    notes: readonly string[] = [COUNTRY_WIDE],
  ): Promise<TestList> {
    const aq = await import("arquero");
    const { answeredAt, ...rest } = origin;
    const fields = new Set(entries.flatMap((entry) => Object.keys(entry)));
    for (const taken of ["url", "priority"]) fields.delete(taken);
    const columns: Record<string, Value[]> = {
      priority: entries.map((_, index) => index + 1),
      url: entries.map(({ url }) => url),
    };
    for (const field of fields) columns[field] = entries.map((entry) => cell(entry[field]));
    const whole: Origin = {
      ...rest,
      sql: "",
      server: "",
      range: between(rest.askedAt, new Date(Math.max(+answeredAt, +rest.askedAt + 1))),
      rowsRead: entries.length,
      seconds: (+answeredAt - +rest.askedAt) / 1000,
      columns: { dimensions: [], measures: [] },
      reductions: [],
      notes,
    };
    return new TestList(aq.table(columns), whole, country, entries);
  }

  /**
   * The entries of one network, where the endpoint gives `probe_cc` and `probe_asn` with them.
   *
   * @param pair `probe_asn` is a number, with or without `AS`: `30722`, `"AS30722"`.
   * @throws ProbelabError where the list's entries carry no such fields.
   * @example
   * const network = await list.forNetwork({ probe_cc: "IT", probe_asn: 30722 });
   */
  forNetwork(pair: { readonly probe_cc: string; readonly probe_asn: number | string }) {
    const carries = (entry: TestListEntry) => "probe_cc" in entry && "probe_asn" in entry;
    if (!this.entries.some(carries)) {
      throw new ProbelabError(
        `Can't take the entries of ${pair.probe_cc} AS${asn(pair.probe_asn)} from the list of ${this.country}: its entries carry no probe_cc and probe_asn, so the endpoint gives the country-wide view only.`,
      );
    }
    const kept = this.entries.filter(
      (entry) =>
        carries(entry) &&
        entry["probe_cc"] === pair.probe_cc &&
        asn(entry["probe_asn"]) === asn(pair.probe_asn),
    );
    const { source, parameters, bytesRead, askedAt, range } = this.origin;
    const note = `The entries of ${pair.probe_cc} AS${asn(pair.probe_asn)}, ${kept.length} of ${this.entries.length}.`;
    const origin = { source, parameters, bytesRead, askedAt, answeredAt: range.end };
    return TestList.of(this.country, kept, origin, [note]);
  }
}

/** An autonomous system's number as its digits. */
function asn(value: unknown): string {
  return String(value).replace(/^AS/i, "");
}

/** A field's value as a cell holds it: numbers, texts and truths as they are, the rest as JSON. */
function cell(value: unknown): Value {
  if (value === undefined || value === null) return null;
  return typeof value === "object" ? JSON.stringify(value) : value;
}
