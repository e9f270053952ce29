import { refuseUnknown } from "../../base/check-options.js";
import { count, type Measure } from "../../query/measure.js";
import type { Where } from "../../query/where.js";
import { resultOfRows } from "../../result/own-rows.js";
import type { Result } from "../../result/result.js";
import { checkRange, type TimeRange } from "../../time/time-range.js";
import {
  askCells,
  changeMeasures,
  type ChangeCells,
  type ChangeDimension,
  type ChangeSource,
} from "./cells.js";
import type { Account, Cause, Part } from "./account.js";
import {
  flowOf,
  runsByVersion,
  withRunEvidence,
  type Compared,
  type Evidence,
} from "./evidence.js";
import { flowAccount } from "./counts.js";
import { rateAccount } from "./rates.js";
import type { Finding } from "../finding.js";
import { withMissing, withPlaces, type Move } from "./releases.js";
import { causeSentence, isKnown, isLarge, movedOf, RUNS_NOTE, tellExplanation } from "./tell.js";
import { elementText } from "../words.js";

export type { Cause } from "./account.js";

/** What `explain` takes. */
export interface ExplainOptions {
  /** What changed: a count, a sum, `countDistinct`, a share, a ratio, a mean or a quantile. Default `count()`. */
  readonly measure?: Measure<unknown>;
  /** The range to compare with. Where it is longer or shorter, counts are taken per time. */
  readonly before: TimeRange;
  /** The range that is to be explained. */
  readonly after: TimeRange;
  /**
   * Columns and dimensions in which causes are looked for, up to seven. Default: software_name,
   * software_version, probe_cc, probe_asn and test_name; of logs identifier, host and priority, as
   * far as the table has them.
   */
  readonly dimensions?: readonly ChangeDimension[];
  /** Which rows count, as in every question. */
  readonly where?: Where;
  readonly signal?: AbortSignal;
}

/** The answer of `explain`. */
export interface Explanation extends Finding {
  readonly kind: "explain";
  /** What is behind the change: those that are certain first, of a count the greatest. */
  readonly causes: readonly Cause[];
  /** What all other rows contribute. */
  readonly rest: Cause;
  /** Programs whose users went from version to version. */
  readonly moves: readonly Move[];
  /** What shows the first cause best, for `chart.evidence`: missing where nothing shows more than the table. */
  readonly shown?: Evidence;
  /** True where rows are missing, where causes only may be, or the whole changed and no part of it stands out. */
  readonly undecided: boolean;
  /** The measure over all rows. */
  readonly before: number | null;
  readonly after: number | null;
}

const OPTIONS = ["measure", "before", "after", "dimensions", "where", "signal"];
const ACTION = "explain a change";
/**
 * Finds which values of which dimensions, and which combinations of them, account for the change of a
 * count, a share or a quantile between two ranges, in one scan of each; a few narrow questions then ask
 * more of the rows that it names.
 *
 * Causes are disjoint and their contributions, with the rest's, add up to the change: exactly for
 * counts and sums; for shares and means as rate and mix (E. M. Kitagawa, "Components of a difference
 * between two rates", JASA 50, 1955); a quantile's as those of the share of rows above the middle of
 * its two values. How causes are found is said in docs/what-happened.md.
 *
 * @returns `sentence`, `causes` and `result`, a row a cause. `found` is false where the change is
 *   no more than what is usual: 5 % for a part of the rows, 10 % for the whole, or chance.
 * @throws ProbelabError for unknown columns and options, measures that have no parts (max),
 *   and more cells than an answer may have.
 * @example
 * const week = last("1 week", { now: lab.now });
 * const why = await explain(lab.measurements, {
 *   measure: count(), after: week, before: last("1 week", { now: week.start }),
 * });
 * why.sentence;
 */
export async function explain(source: ChangeSource, options: ExplainOptions): Promise<Explanation> {
  refuseUnknown(options, OPTIONS, ACTION);
  checkRange((options as ExplainOptions | undefined)?.after, ACTION, "after");
  const measure = options.measure ?? count();
  const cells = await askCells(source, {
    measure,
    before: options.before,
    after: options.after,
    dimensions: options.dimensions,
    where: options.where ?? {},
    action: ACTION,
    signal: options.signal,
    runs: true,
  });
  const { cells: asked, account } = await accountAsked(source, options, cells);
  const first =
    account.parts[0] ?? (isKnown(account) && isLarge(account) ? account.rest : undefined);
  const counted = cells.kind === "flow" && ["count", "sum"].includes(measure.measure ?? "");
  const shown =
    runsByVersion(asked, first) ??
    (counted && first ? await flowOf(source, options, asked, first, measure) : undefined);
  return { ...explanationOf(asked, account), ...(shown && { shown }) };
}

/** What {@link explain} does after its two scans: it explains the cells, and asks what their runs did besides. */
export async function explainAsked(
  source: ChangeSource,
  compared: Compared,
  given: ChangeCells,
): Promise<Explanation> {
  const { cells, account } = await accountAsked(source, compared, given);
  return explanationOf(cells, account);
}

async function accountAsked(source: ChangeSource, compared: Compared, given: ChangeCells) {
  const { cells, account } = accountOf(given);
  const parts = await withRunEvidence(source, compared, account.parts);
  return { cells, account: { ...account, parts } };
}

/** Explains cells that were asked, by them alone. */
export function explainCells(given: ChangeCells): Explanation {
  const { cells, account } = accountOf(given);
  return explanationOf(cells, account);
}

/** What cells' change is made of; and the cells with what should have come and didn't. */
export function accountOf(given: ChangeCells): { cells: ChangeCells; account: Account } {
  const known = accounts.get(given);
  if (known !== undefined) return known;
  const cells = withMissing(given);
  const { cells: judged, placeholders } = withPlaces(cells);
  const found = cells.kind === "flow" ? flowAccount(judged) : rateAccount(judged);
  const account = { ...found, placeholders };
  accounts.set(given, { cells, account });
  return { cells, account };
}

/** A comparison and an explanation of the same cells share their account. */
const accounts = new WeakMap<ChangeCells, ReturnType<typeof accountOf>>();

function explanationOf(cells: ChangeCells, account: Account): Explanation {
  const { before, after, moves, parts } = account;
  const whole = account.rest.change + parts.reduce((sum, { change }) => sum + change, 0);
  const causeOf = (part: Part): Cause => {
    const { where, change, half, rate, mix } = part;
    const cause: Cause = {
      where,
      before: part.before,
      after: part.after,
      change,
      ...(rate !== undefined && { rate, mix: mix! }),
      text: `${part.rest === true ? "the rest of " : ""}${elementText(where)}`,
      // More may be lost than was there: more might have come.
      low: change - half,
      high: change + half,
      part: whole === 0 ? null : change / whole,
      grade: part.doubt !== undefined ? "may be" : "named",
    };
    const sentence = part.kind !== "moved" && causeSentence(cells, cause, part, parts);
    return { ...cause, ...(sentence && { sentence }) };
  };
  const found = parts.map(causeOf);
  // Rows whose runs are fewer, and hold fewer, are two causes.
  const causes = found.map((cause, at) => {
    const isTwice = found.some((other) => other !== cause && other.text === cause.text);
    const isSize = parts[at]!.kind === "runs hold";
    return isTwice && isSize ? { ...cause, text: `what runs of ${cause.text} hold` } : cause;
  });
  const rest = causeOf(account.rest);
  // Rows of runs that hold fewer are in both: what those runs would have held is what came without it.
  const isSizes = parts.some(({ kind }) => kind === "runs hold");
  const isWithout = isSizes || parts.some(({ isAsIf }) => isAsIf);
  const without = `all rows without ${causes.length === 1 ? "it" : "them"}`;
  const restText = isWithout ? without : "everything else";
  const others = rest.before || rest.after ? [{ ...rest, text: restText }] : [];
  return {
    kind: "explain",
    found: causes.some(({ grade }) => grade === "named"),
    undecided:
      causes[0] === undefined
        ? !isKnown(account) || isLarge(account) || account.seen === "nothing"
        : causes[0].grade === "may be",
    causes,
    rest,
    moves,
    before,
    after,
    ...tellExplanation(cells, account, causes),
    moved: movedOf(cells, account),
    result: causeResult(cells, [...causes, ...others], isSizes ? [RUNS_NOTE] : []),
  };
}

function causeResult(
  cells: ChangeCells,
  causes: readonly Cause[],
  notes: readonly string[],
): Result {
  const { unit, origin, names, kind } = cells;
  const rows = causes.map((cause) => ({
    cause: cause.text,
    ...Object.fromEntries(names.map((name) => [columnOf(name), cause.where[name] ?? null])),
    before: cause.before,
    after: cause.after,
    change: cause.change,
    low: cause.low,
    high: cause.high,
    part: cause.part,
    ...(kind === "rate" && { rate: cause.rate, mix: cause.mix }),
  }));
  const rate = [
    ["rate", "By its own rate", unit],
    ["mix", "By its weight", unit],
  ] as const;
  return resultOfRows(rows, {
    ...origin,
    columns: {
      dimensions: [{ name: "cause", order: causes.map(({ text }) => text) }],
      measures: changeMeasures(cells, [
        ["part", "Part of the change", "share"],
        ...(kind === "rate" ? rate : []),
      ]),
    },
    reductions: [],
    notes: [...notes, ...origin.notes.filter((note) => note !== cells.unlike)],
  });
}

const COLUMNS = ["cause", "before", "after", "change", "low", "high", "part", "rate", "mix"];

/** A dimension's column in the table: `before_` of one that is called as another column of it. */
function columnOf(name: string): string {
  return COLUMNS.includes(name) ? `${name}_` : name;
}
