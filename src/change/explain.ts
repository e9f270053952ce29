import { refuseUnknown } from "../base/check-options.js";
import { count, type Measure } from "../query/measure.js";
import type { Where } from "../query/where.js";
import { resultOfRows } from "../result/own-rows.js";
import { Result } from "../result/result.js";
import type { TimeRange } from "../time/time-range.js";
import {
  askCells,
  changeMeasures,
  type ChangeCells,
  type ChangeDimension,
  type ChangeSource,
} from "./cells.js";
import { flowAccount, type Account, type Part } from "./explain-flow.js";
import { rateAccount } from "./explain-rate.js";
import type { Finding } from "./finding.js";
import { withMissing, type Move } from "./releases.js";
import { WHOLE } from "./thresholds.js";
import {
  amount,
  changeText,
  elementText,
  furtherText,
  partText,
  periodText,
  signedPercent,
  spoken,
  valueText,
  type CauseValue,
} from "./words.js";

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

/** A part of a change: what is behind it, and how much. */
export interface Cause {
  /**
   * The values that its rows share, by dimension; empty for what all rows did alike. A list where
   * rows moved from its first values to its last, as users do from one version to the next.
   */
  readonly where: Readonly<Record<string, CauseValue>>;
  /** In words: "probe_cc = IT and software_version = 3.10.0". */
  readonly text: string;
  /** The measure over its rows; of a release what was to be expected of them, had its users stayed as they were. */
  readonly before: number | null;
  readonly after: number | null;
  /** What it contributes to the change of the whole; contributions add up to it. */
  readonly change: number;
  /** Ends of the 95 % interval of `change`. */
  readonly low: number;
  readonly high: number;
  /** Its part of the whole's change: 1 is all of it. */
  readonly part: number | null;
  /** Of a share or a mean: what its own rate contributes, and what its weight among the rows does. */
  readonly rate?: number;
  readonly mix?: number;
  /** What happened, where more is known than how much: "app 3.10.0 ends its runs early: …" */
  readonly sentence?: string;
}

/** The answer of `explain`. */
export interface Explanation extends Finding {
  readonly kind: "explain";
  /** What is behind the change, of a count the greatest first; disjoint. */
  readonly causes: readonly Cause[];
  /** What all other rows contribute. */
  readonly rest: Cause;
  /** Programs whose users went from version to version. */
  readonly moves: readonly Move[];
  /** True where rows are missing, or the whole changed and no part of it stands out. */
  readonly undecided: boolean;
  /** The measure over all rows. */
  readonly before: number | null;
  readonly after: number | null;
}

const OPTIONS = ["measure", "before", "after", "dimensions", "where", "signal"];
const ACTION = "explain a change";
/** Causes, and moves, that the sentence names beside those with a sentence of their own. */
const MOST_LISTED = 3;

/**
 * Finds which values of which dimensions, and which combinations of them, account for the change of a
 * count, a share or a quantile between two ranges, in a scan of each.
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
  const cells = await askCells(source, {
    measure: options.measure ?? count(),
    before: options.before,
    after: options.after,
    dimensions: options.dimensions,
    where: options.where ?? {},
    action: ACTION,
    signal: options.signal,
    runs: true,
  });
  return explainCells(cells);
}

/** Explains cells that were asked: what {@link explain} does after its two scans. */
export function explainCells(given: ChangeCells): Explanation {
  const cells = withMissing(given);
  const account = cells.kind === "flow" ? flowAccount(cells) : rateAccount(cells);
  const { before, after, moves, notes } = account;
  const whole = account.rest.change + account.parts.reduce((sum, { change }) => sum + change, 0);
  const causeOf = ({ leaves: _, half, rest: isRest, sentence, ...part }: Part): Cause => ({
    ...part,
    text: `${isRest === true ? "the rest of " : ""}${elementText(part.where)}`,
    low: part.change - half,
    high: part.change + half,
    part: whole === 0 ? null : part.change / whole,
    ...(sentence !== undefined && { sentence }),
  });
  const causes = account.parts.map(causeOf);
  const rest = causeOf(account.rest);
  const others = rest.before || rest.after ? [{ ...rest, text: "everything else" }] : [];
  return {
    kind: "explain",
    found: causes.length > 0,
    undecided: causes.length === 0 && (!isKnown(account) || isLarge(account)),
    causes,
    rest,
    moves,
    before,
    after,
    sentence: sentenceOf(cells, account, causes),
    result: causeResult(cells, [...causes, ...others], notes),
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
    ...Object.fromEntries(names.map((name) => [name, shown(cause.where[name])])),
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
  return new Result(resultOfRows(rows).table, {
    ...origin,
    columns: {
      dimensions: [{ name: "cause", order: causes.map(({ text }) => text) }],
      measures: changeMeasures(cells, [
        ["part", "Part of the change", "share"],
        ...(kind === "rate" ? rate : []),
      ]),
    },
    reductions: [],
    notes: [...notes, ...origin.notes],
  });
}

function shown(value: CauseValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : value.map((text) => text ?? "(none)").join(" → ");
}

type Ends = Pick<Account, "before" | "after">;

/** Whether both ends are known, and not both are 0. */
function isKnown({ before, after }: Ends): boolean {
  return before !== null && after !== null && (before !== 0 || after !== 0);
}

function isLarge({ before, after }: Ends): boolean {
  return Math.abs(after! - before!) > (WHOLE * (after! + before!)) / 2;
}

/** The whole's change, what is known of its causes, and what else there is to say. */
function sentenceOf(cells: ChangeCells, account: Account, causes: readonly Cause[]): string {
  const { before, after, remarks } = account;
  const what = `${spoken(cells.label)} ${changeText(before, after, cells.unit)} ${periodText(cells.earlier, cells.later)}${cells.caution ?? ""}.`;
  if (!isKnown(account)) {
    const why =
      before === after
        ? "neither range holds"
        : before === null
          ? "the earlier range doesn't hold"
          : "the later range doesn't hold";
    return `${what} I can't tell what changed, because ${why} such rows.`;
  }
  const others = causes.filter(({ sentence }) => sentence === undefined);
  const texts = others.slice(0, MOST_LISTED).map((cause) => causeText(cells, cause, causes.length));
  const listed = `${texts.join("; ")}${furtherText(others.length - MOST_LISTED, "cause")}.`;
  const accounts = causes.flatMap(({ sentence }) => sentence ?? []);
  if (causes.length === 0) {
    const looked = cells.names.join(", ");
    accounts.push(
      isLarge(account)
        ? `I can't tell what is behind it: no part of it stands out from the noise in ${looked}.`
        : `${account.moves.length > 0 ? "Apart from upgrades no" : "No"} part of it moved by more than is usual: nothing stands out in ${looked}.`,
    );
  } else if (others.length > 0) {
    const alike = listed.startsWith("all ") || listed.startsWith("the ");
    if (accounts.length > 0 && causes[0]!.sentence !== undefined) {
      accounts.push(`Apart from that: ${listed}`);
    } else accounts.unshift(alike ? `${listed.charAt(0).toUpperCase()}${listed.slice(1)}` : listed);
  }
  return [what, ...accounts, ...movesText(cells, account), ...remarks].join(" ");
}

/** "probe_cc IT fell by 12,345 (23 %), from 53,000 to 41,000, 80 % of the change". */
function causeText(cells: ChangeCells, cause: Cause, many: number): string {
  const { quantile, unit } = cells;
  const { before, after, change, part } = cause;
  const all = many > 1 ? "all other rows alike" : "all rows alike";
  const name = Object.keys(cause.where).length === 0 ? all : cause.text;
  const above = quantile === undefined ? "" : ` (share above ${amount(quantile.at, unit)})`;
  const own = quantile === undefined ? unit : "share";
  // As if runs had held what was to be expected, counts aren't whole.
  const whole = cells.kind === "flow" && cells.runs !== undefined;
  const rounded = (value: number | null) => (whole && value !== null ? Math.round(value) : value);
  // A part that fell may still contribute to a rise, by its weight.
  const against = ((after ?? 0) - (before ?? 0)) * change < 0;
  const share = against ? "" : partText(part);
  if (cells.kind === "flow" && before === 0) {
    return `${name} is new, with ${amount(rounded(after), own)} ${unit}${share}`;
  }
  return `${name}${above} ${changeText(rounded(before), rounded(after), own)}${share}`;
}

/** Of programs that kept their rows; how well their numbers tell it, the reader sees. */
function movesText({ unit }: ChangeCells, { moves }: Account): string[] {
  const moved = moves
    .filter(({ kept }) => Math.abs(kept - 1) <= WHOLE)
    .map(({ program, dimension, values, kept }) => {
      const whose = program === null ? "" : `${valueText(program)} `;
      return `${whose}${dimension} ${valueText(values)} (all its ${unit}: ${signedPercent(kept - 1)})`;
    });
  return moved.length === 0
    ? []
    : [`Users also upgraded: ${moved.slice(0, MOST_LISTED).join("; ")}.`];
}
