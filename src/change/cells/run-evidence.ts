import { optional } from "../../base/error.js";
import { count } from "../../query/measure.js";
import type { Where } from "../../query/where.js";
import { isVersionColumn } from "../../result/origin.js";
import type { Result } from "../../result/result.js";
import { rangeText, type TimeRange } from "../../time/time-range.js";
import type { ChangeSource } from "./cells.js";
import type { Part, Told } from "./account.js";
import { ALIKE_RATIO, TOTAL_TOLERANCE } from "./thresholds.js";
import { amount, number, percent } from "../../base/numbers.js";
import { elementText } from "../words.js";

/** The ranges that were compared, and which rows count. */
export interface Compared {
  readonly before: TimeRange;
  readonly after: TimeRange;
  readonly where?: Where;
  readonly signal?: AbortSignal;
}

type Ask = (options: object) => Promise<Result<object>>;

/** So many causes are asked about. */
const MOST_ASKED = 3;

/**
 * Says of parts whose runs hold fewer measurements whether the runs end early (they are shorter, too) or
 * leave some out, and of those that hold more whether rows repeat: two narrow questions a part; and of
 * parts that appeared whether they are back. What can't be asked stays as it is told.
 */
export async function withRunEvidence(
  source: ChangeSource,
  compared: Compared,
  parts: readonly Part[],
): Promise<Part[]> {
  const asks: { readonly [question: string]: unknown } = { ...source };
  const { durations, runDurations, duplicates } = asks as Partial<Record<string, Ask>>;
  const told: Part[] = [];
  for (const [at, part] of parts.entries()) {
    const [holds, isAsked] = [part.told?.holds, at < MOST_ASKED];
    const ask = holds === "fewer" ? (durations ?? runDurations) : duplicates;
    const sides = isAsked && holds && ask && (await sidesOf(ask, holds, compared, part));
    const better = sides && (holds === "fewer" ? shorter : repeated)(part, ...sides);
    const isNew = isAsked && part.before === 0;
    const history = isNew && (await optional(() => historyOf(source, compared, part)));
    told.push({ ...part, ...(better && { told: better }), ...(history && { history }) });
  }
  return told;
}

/** Of a part's rows; undefined where rows moved from one of its values to another, or one is missing. */
function questionOf(
  { where = {}, signal }: Compared,
  range: TimeRange,
  own: readonly (readonly [string, unknown])[],
) {
  if (own.some(([, value]) => typeof value !== "string")) return undefined;
  const filter = { ...where, ...Object.fromEntries(own) } as Where;
  return { range, every: "all", where: filter, ...(signal && { signal }) };
}

/** So many ranges before the earlier one show whether something is new. */
const RANGES_BEFORE = 4;

/** Says of what has no row in the earlier range that some came before it; undefined where none did. */
async function historyOf(
  source: ChangeSource,
  compared: Compared,
  part: Part,
): Promise<string | undefined> {
  const { before } = compared;
  const start = new Date(+before.start - RANGES_BEFORE * (+before.end - +before.start));
  const range = { ...before, start, end: before.start };
  const own = Object.entries(part.where);
  const question = own.length > 0 && questionOf(compared, range, own);
  if (!question) return undefined;
  const asked = { ...question, measures: { rows: count() } };
  const [row] = (await source.ask(asked as never)).rows() as { rows: number }[];
  return row && row.rows > 0
    ? `${elementText(part.where)} isn't new: ${number(row.rows)} came in ${rangeText(range)}, before the earlier range`
    : undefined;
}

/** Median duration, or the share of surplus rows: of the part's program before, and of the part now. */
async function sidesOf(
  ask: Ask,
  holds: NonNullable<Told["holds"]>,
  compared: Compared,
  part: Part,
): Promise<[number, number] | undefined> {
  const own = Object.entries(part.where);
  const sideOf = async (range: TimeRange, values: typeof own) => {
    const question = questionOf(compared, range, values);
    if (question === undefined) return NaN;
    const answer = await ask({ ...question, ...(holds === "fewer" && { quantiles: [0.5] }) });
    const [row] = answer.rows() as { q50?: number | null; share?: number | null }[];
    return row?.q50 ?? row?.share ?? NaN;
  };
  const wider = own.filter(([name]) => !isVersionColumn(name));
  const was = await optional(() => sideOf(compared.before, wider));
  const is = was === null ? null : await optional(() => sideOf(compared.after, own));
  return was === null || is === null || !Number.isFinite(was + is) ? undefined : [was, is];
}

function shorter({ told, where }: Part, was: number, is: number): Told {
  const { headline, details = [], ...rest } = told!;
  const [then, now] = [was, is].map((seconds) => amount(seconds, "s"));
  if (!(is < (1 - TOTAL_TOLERANCE) * was)) {
    const why = `Its runs take as long as before (median ${now}, before ${then}): measurements within them are missing`;
    return { ...rest, headline, details: [...details, why] };
  }
  return {
    ...rest,
    headline: headline
      .replace("holds fewer measurements a run", "ends its runs early")
      .replace("hold fewer measurements", "end early"),
    details: [
      ...details,
      Object.keys(where).some(isVersionColumn)
        ? `Its median run lasts ${now}; that of all releases lasted ${then} before`
        : `Median run duration fell from ${then} to ${now}`,
    ],
  };
}

function repeated({ before, after, told }: Part, was: number, is: number): Told | undefined {
  const more = 1 - before! / after!;
  if (!(is - was > ALIKE_RATIO * more)) return undefined;
  const { headline, details = [], ...rest } = told!;
  return {
    ...rest,
    headline: headline
      .replace("holds more measurements a run", "is stored more than once")
      .replace("hold more measurements", "are stored more than once"),
    details: [...details, `${percent(is)} of its rows are duplicates (${percent(was)} before)`],
  };
}
