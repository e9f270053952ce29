import { optional } from "../../base/error.js";
import { count } from "../../query/measure.js";
import type { Where } from "../../query/where.js";
import { isVersionColumn } from "../../result/origin.js";
import type { Result } from "../../result/result.js";
import type { TimeRange } from "../../time/time-range.js";
import type { ChangeSource } from "./cells.js";
import type { Part } from "./account.js";

/** The ranges that were compared, and which rows count. */
export interface Compared {
  readonly before: TimeRange;
  readonly after: TimeRange;
  readonly where?: Where;
  readonly signal?: AbortSignal;
}

type Ask = (options: object) => Promise<Result<object>>;

/** Duplicates tell why runs hold more if they are this part of what is more. */
const LEAST_REPEATED = 0.5;
/** So many causes are asked about. */
const MOST_ASKED = 3;

/**
 * Asks of parts whose runs hold fewer measurements how long the runs last, of those that hold more how
 * many rows are duplicates: two narrow questions a part; and of parts that appeared whether they are
 * back. What can't be asked stays unknown.
 */
export async function withRunEvidence(
  source: ChangeSource,
  compared: Compared,
  parts: readonly Part[],
): Promise<Part[]> {
  const asks: { readonly [question: string]: unknown } = { ...source };
  const { durations, runDurations, duplicates } = asks as Partial<Record<string, Ask>>;
  const known: Part[] = [];
  for (const [at, part] of parts.entries()) {
    if (at < MOST_ASKED && part.kind === "runs hold") {
      const isFewer = part.holds < part.held;
      const ask = isFewer ? (durations ?? runDurations) : duplicates;
      const shown = ask && (await sidesOf(ask, isFewer, compared, part));
      // Duplicates tell it only where they are enough of it.
      const more = 1 - part.before! / part.after!;
      const isTold = shown && (isFewer || shown.is - shown.was > LEAST_REPEATED * more);
      known.push({ ...part, ...(isTold && { shown }) });
    } else if (at < MOST_ASKED && part.before === 0) {
      const history = await optional(() => historyOf(source, compared, part));
      known.push({ ...part, ...(history && { history }) });
    } else known.push(part);
  }
  return known;
}

/** Of a part's rows; undefined where one of its values is missing. */
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

/** Of what has no row in the earlier range: rows that came before it; undefined where none did. */
async function historyOf(
  source: ChangeSource,
  compared: Compared,
  part: Part,
): Promise<Part["history"]> {
  const { before } = compared;
  const start = new Date(+before.start - RANGES_BEFORE * (+before.end - +before.start));
  const range = { ...before, start, end: before.start };
  const own = Object.entries(part.where);
  const question = own.length > 0 && questionOf(compared, range, own);
  if (!question) return undefined;
  const asked = { ...question, measures: { rows: count() } };
  const [row] = (await source.ask(asked as never)).rows() as { rows: number }[];
  return row && row.rows > 0 ? { rows: row.rows, range } : undefined;
}

/** Median duration, or the share of surplus rows: of the part's program before, and of the part now. */
async function sidesOf(
  ask: Ask,
  isFewer: boolean,
  compared: Compared,
  part: Part,
): Promise<{ readonly was: number; readonly is: number } | undefined> {
  const own = Object.entries(part.where);
  const sideOf = async (range: TimeRange, values: typeof own) => {
    const question = questionOf(compared, range, values);
    if (question === undefined) return NaN;
    const answer = await ask({ ...question, ...(isFewer && { quantiles: [0.5] }) });
    const [row] = answer.rows() as { q50?: number | null; share?: number | null }[];
    return row?.q50 ?? row?.share ?? NaN;
  };
  const wider = own.filter(([name]) => !isVersionColumn(name));
  const was = await optional(() => sideOf(compared.before, wider));
  const is = was === null ? null : await optional(() => sideOf(compared.after, own));
  return was === null || is === null || !Number.isFinite(was + is) ? undefined : { was, is };
}
