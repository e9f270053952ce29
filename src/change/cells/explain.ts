import { refuseUnknown } from "../../base/check-options.js";
import { counted, lowered } from "../../base/text.js";
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
import type { Account, Part } from "./account.js";
import { flowOf, runsByVersion, type Evidence } from "./evidence.js";
import { flowAccount } from "./explain-flow.js";
import { rateAccount, rateUnit } from "./explain-rate.js";
import { movedIn, tell, type Finding, type Moved, type Telling } from "../finding.js";
import { withRunEvidence, type Compared } from "./run-evidence.js";
import { withMissing, type Move } from "./releases.js";
import { TOTAL_TOLERANCE } from "./thresholds.js";
import { amount, percent, signedPercent } from "../../base/numbers.js";
import {
  changeText,
  elementText,
  partText,
  periodText,
  shortText,
  spoken,
  valueText,
  type CauseValue,
} from "../words.js";

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
  /**
   * `named`: beyond what coming and going of users explains; `may be`: more than that would give once
   * in ten questions.
   */
  readonly grade: "named" | "may be";
  /** What happened, where more is known than how much: "app 3.10.0 ends its runs early: …" */
  readonly sentence?: string;
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
/** Causes, and moves, that the sentence names beside those with a sentence of their own. */
const MOST_LISTED = 3;

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

function accountOf(given: ChangeCells): { cells: ChangeCells; account: Account } {
  const cells = withMissing(given);
  return { cells, account: cells.kind === "flow" ? flowAccount(cells) : rateAccount(cells) };
}

function explanationOf(cells: ChangeCells, account: Account): Explanation {
  const { before, after, moves, notes } = account;
  const whole = account.rest.change + account.parts.reduce((sum, { change }) => sum + change, 0);
  const causeOf = ({
    leaves: _,
    half,
    rest: isRest,
    doubt,
    isAsIf: _asIf,
    history: _history,
    told,
    ...part
  }: Part): Cause => ({
    ...part,
    text: `${isRest === true ? "the rest of " : ""}${elementText(part.where)}`,
    // No more can be lost than was there.
    low: Math.max(part.change - half, cells.kind === "flow" ? -(part.before ?? 0) : -Infinity),
    high: part.change + half,
    part: whole === 0 ? null : part.change / whole,
    grade: doubt !== undefined ? "may be" : "named",
    ...(told !== undefined && {
      sentence: tell(told.headline, told.evidence, told.details ?? []).sentence,
    }),
  });
  const found = account.parts.map(causeOf);
  // Rows whose runs are fewer, and hold fewer, are two causes.
  const causes = found.map((cause, at) => {
    const isTwice = found.some((other) => other !== cause && other.text === cause.text);
    const isSize = account.parts[at]!.told?.holds !== undefined;
    return isTwice && isSize ? { ...cause, text: `what runs of ${cause.text} hold` } : cause;
  });
  const rest = causeOf(account.rest);
  // Rows of runs that hold fewer are in both: what those runs would have held is what came without it.
  const isWithout = account.parts.some(({ isAsIf, told }) => isAsIf || told?.holds !== undefined);
  const without = `all rows without ${causes.length === 1 ? "it" : "them"}`;
  const restText = isWithout ? without : "everything else";
  const others = rest.before || rest.after ? [{ ...rest, text: restText }] : [];
  return {
    kind: "explain",
    found: causes.some(({ grade }) => grade === "named"),
    undecided:
      causes[0] === undefined
        ? !isKnown(account) || isLarge(account) || account.tooFew !== undefined
        : causes[0].grade === "may be",
    causes,
    rest,
    moves,
    before,
    after,
    ...tellingOf(cells, account, causes),
    moved: movedOf(cells, account),
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
    ...Object.fromEntries(names.map((name) => [columnOf(name), shown(cause.where[name])])),
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

function shown(value: CauseValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : value.map((text) => text ?? "(none)").join(" → ");
}

type Ends = Pick<Account, "before" | "after">;

/** True if both ends are known, and not both are 0. */
function isKnown({ before, after }: Ends): boolean {
  return before !== null && after !== null && (before !== 0 || after !== 0);
}

function isLarge({ before, after }: Ends): boolean {
  return Math.abs(after! - before!) > (TOTAL_TOLERANCE * (after! + before!)) / 2;
}

/** The first cause, its figures; the whole's change, the other causes, and what else there is to say. */
function tellingOf(cells: ChangeCells, account: Account, causes: readonly Cause[]): Telling {
  const { before, after, remarks, parts } = account;
  const label = spoken(cells.label);
  const whole = `${label} ${changeText(before, after, cells.unit)} ${periodText(cells.earlier, cells.later)}${cells.caution ?? ""}`;
  if (!isKnown(account)) {
    const which = before === after ? "neither" : before === null ? "the earlier" : "the later";
    const holds = which === "neither" ? "range holds" : "range doesn't hold";
    const why = cells.whyEmpty ?? `I can't tell it, because ${which} ${holds} such rows`;
    return tell("I can't tell what changed", why, [whole]);
  }
  const { tooFew } = account;
  const more = [
    ...[cells.unlike, tooFew].filter((text) => text !== undefined),
    // Of rows that are too few nobody knows that users only upgraded.
    ...(tooFew === undefined ? movesText(cells, account) : []),
    ...parts.flatMap(({ history = [] }) => history),
    ...remarks,
  ];
  const [first, ...others] = causes;
  if (first === undefined) {
    const looked = cells.names.join(", ");
    const moved = account.moves.length > 0 ? "Apart from upgrades no" : "No";
    if (isLarge(account)) {
      const by = shortChange(before, after, cells.unit);
      const head = `I can't tell what is behind it: ${lowered(label)} ${by}`;
      const noise = `No part of it stands out from the noise in ${looked}`;
      return tell(head, whole, [noise, ...more]);
    }
    if (account.tooFew !== undefined) {
      return tell("I can't tell whether a part of it moved: too few rows", whole, more);
    }
    const usual = `${moved} part of it moved by more than is usual, in ${looked}`;
    return tell("Nothing stands out", whole, [usual, ...more]);
  }
  const [head, evidence, details] = causeTexts(cells, account, 0, causes);
  const isAgainst = first.change * ((after ?? 0) - (before ?? 0)) < 0;
  const all = isAgainst ? `Over all rows it went the other way: ${lowered(whole)}` : whole;
  const listed = others.slice(0, MOST_LISTED).map((_, at) => {
    const [head, ...texts] = causeTexts(cells, account, at + 1, causes);
    return tell(head, texts[0], texts[1]).sentence;
  });
  const untold = others.length - listed.length;
  const further =
    untold > 0 &&
    `${counted(untold, "further cause")} stand${untold === 1 ? "s" : ""} in the table`;
  const isSure = first.grade === "named";
  return tell(isSure ? head : `May be: ${head}`, evidence, [
    parts[0]!.doubt,
    ...details,
    all,
    ...listed,
    further,
    ...more,
  ]);
}

/** Headline, evidence and details of a cause: its own, or how much its rows changed. */
function causeTexts(
  cells: ChangeCells,
  { parts }: Account,
  at: number,
  causes: readonly Cause[],
): [headline: string, evidence: string, details: readonly string[]] {
  const { told } = parts[at]!;
  if (told !== undefined) return [told.headline, told.evidence, told.details ?? []];
  return [
    headlineText(cells, causes[at]!, causes.length),
    evidenceText(cells, causes[at]!, parts[at]!),
    [],
  ];
}

function movedOf(cells: ChangeCells, account: Account): Moved[] {
  const { earlier, later, label, unit, origin } = cells;
  const { before, after } = account;
  if (!isKnown(account)) return [];
  const by = shortChange(before, after, unit);
  const said = { change: after! - before!, by, ranges: periodText(earlier, later) };
  return [movedIn(later, spoken(label), origin.filter, said)];
}

/** "fell by 23 %" of counts; "rose from 2 % to 40 %" of shares and means. */
function shortChange(before: number | null, after: number | null, unit: string): string {
  const [was, is] = [before ?? 0, after ?? 0];
  if (!(was > 0)) return `rose to ${amount(is, unit)}`;
  return `${is < was ? "fell" : "rose"} by ${percent(Math.abs(is / was - 1))}`;
}

/** "probe_cc IT fell by 23 % (12,345 measurements)". */
function headlineText(cells: ChangeCells, cause: Cause, many: number): string {
  const { unit, kind } = cells;
  const { before, after, where } = cause;
  const isAll = Object.keys(where).length === 0;
  const rest = !isAll && cause.text.startsWith("the rest of ") ? "the rest of " : "";
  const name = isAll ? (many > 1 ? "All other rows alike" : "All rows alike") : shortText(where);
  if (kind === "flow") {
    const by = Math.round(Math.abs(cause.change));
    if (before === 0) return `${rest}${name} appeared, with ${amount(by, "")} ${unit}`;
    return `${rest}${name} ${shortChange(before, after, unit)} (${amount(by, "")} ${unit})`;
  }
  const [was, is] = [before, after].map((value) => amount(value, rateUnit(cells)));
  return before === after
    ? `${rest}${name} moved it by its weight`
    : `${rest}${name} went from ${was} to ${is}`;
}

/** "From 53,000 to 41,000 measurements (change −13,100 to −10,900, 95 %), 80 % of the change". */
function evidenceText(cells: ChangeCells, cause: Cause, { isAsIf }: Part): string {
  const { kind, unit, quantile } = cells;
  const { before, after, low, high, change } = cause;
  const share = partText(cause.part);
  if (kind === "flow") {
    const [was, is, least, most] = [before, after, low, high].map((n) =>
      amount(Math.round(n ?? 0), ""),
    );
    const asIf = isAsIf === true ? ", had its runs held as many as before" : "";
    return `From ${was} to ${is} ${unit} (change ${least} to ${most}, 95 %)${share}${asIf}`;
  }
  const above = quantile === undefined ? "" : ` by the share above ${amount(quantile.at, unit)}`;
  const by = amount(Number(change.toPrecision(2)), unit);
  return `It contributes ${change < 0 ? "" : "+"}${by}${above}${share}`;
}

/** Of programs that kept their rows: "app 3.9.1 → 3.10.0 (all its measurements: +3 %)". */
function movesText({ unit }: ChangeCells, { moves }: Account): string[] {
  const stayed = moves.filter(({ kept }) => Math.abs(kept - 1) <= TOTAL_TOLERANCE);
  return ([false, true] as const).flatMap((isBack) => {
    const texts = stayed
      .filter((move) => move.isBack === isBack)
      .map(({ program, dimension, values, kept }) => {
        const whose = program === null ? dimension : valueText(program);
        return `${whose} ${valueText(values)} (all its ${unit}: ${signedPercent(kept - 1)})`;
      });
    if (texts.length === 0) return [];
    return `Users also ${isBack ? "went back" : "upgraded"}: ${texts.slice(0, MOST_LISTED).join("; ")}.`;
  });
}
