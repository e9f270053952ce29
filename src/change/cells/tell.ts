import { amount, number, percent, signedPercent } from "../../base/numbers.js";
import { counted, lowered } from "../../base/text.js";
import { isVersionColumn } from "../../result/origin.js";
import { rangeText, type TimeRange } from "../../time/time-range.js";
import { movedIn, tell, type Moved, type Telling } from "../finding.js";
import { changeText, elementText, spoken, valueText, type CauseWhere } from "../words.js";
import type { Account, Cause, Doubt, MixShift, Part, ReleaseRate, RunsHold } from "./account.js";
import type { ChangeCells } from "./cells.js";
import type { Move } from "./releases.js";
import { PART_TOLERANCE, TOTAL_TOLERANCE } from "./thresholds.js";

/** All English of `explain`, which `compare` says too: what facts in numbers say. */

/** What is said of a cause. */
type Texts = readonly [headline: string, evidence: string, ...details: string[]];

type Ends = Pick<Account, "before" | "after">;

/** Causes, and moves, that are listed beside the first. */
const MOST_LISTED = 3;

const DOUBTS: Readonly<Record<Doubt, string>> = {
  chance:
    "That is more than chance gives once in ten questions, but too little to name it for certain",
  "one user": "Nearly all of it is of one program, country and network: it may be one user",
  "few users": "A few users who came or went may have done it",
  "few rows": "These rows are too few: that can be chance",
};

/** Said below the table where runs hold more or fewer than was to be expected. */
export const RUNS_NOTE =
  '"Before" of a release whose runs changed is what its runs would have held; "all rows without it" assumes that they held it.';

/** True if both ends are known, and not both are 0. */
export function isKnown({ before, after }: Ends): boolean {
  return before !== null && after !== null && (before !== 0 || after !== 0);
}

/** True if the whole moved by more than weeks differ. */
export function isLarge({ before, after }: Ends): boolean {
  return Math.abs(after! - before!) > (TOTAL_TOLERANCE * (after! + before!)) / 2;
}

/** Tells an explanation: the first cause, its figures; the whole's change, the other causes, and what else there is to say. */
export function tellExplanation(
  cells: ChangeCells,
  account: Account,
  causes: readonly Cause[],
): Telling {
  const { before, after, parts, moves } = account;
  const whole = wholeText(cells, account);
  if (!isKnown(account)) {
    const which = before === after ? "neither" : before === null ? "the earlier" : "the later";
    const holds = which === "neither" ? "range holds" : "range doesn't hold";
    const why = cells.whyEmpty ?? `I can't tell it, because ${which} ${holds} such rows`;
    return tell("I can't tell what changed", why, [whole]);
  }
  const more = moreTexts(cells, account);
  const [first] = causes;
  // A doubt is no headline while the whole moved by no more than its noise.
  const isDoubt =
    first?.grade === "may be" &&
    parts[0]!.kind !== "all" &&
    Math.abs(after! - before!) < account.half;
  if (first === undefined || isDoubt) {
    const doubts = causes.map((cause, at) => causeSentence(cells, cause, parts[at]!, parts));
    const looked = cells.names.join(", ");
    const no = `${moves.length > 0 ? "Apart from upgrades no" : "No"} part of it`;
    const change = `${lowered(spoken(cells.label))} ${shortChange(before, after, cells.unit)}`;
    const [head, none] =
      doubts.length === 0 && isLarge(account)
        ? [
            `I can't tell what is behind it: ${change}`,
            `No part of it stands out from the noise in ${looked}`,
          ]
        : account.seen === "nothing"
          ? ["I can't tell whether a part of it moved: too few rows", ""]
          : doubts.length > 0
            ? ["Nothing stands out for certain", ""]
            : ["Nothing stands out", `${no} moved by more than is usual, in ${looked}`];
    return tell(head, whole, [none, ...doubts, ...more]);
  }
  const [head, evidence, ...details] = causeTexts(cells, first, parts[0]!, parts);
  const isAgainst = first.change * ((after ?? 0) - (before ?? 0)) < 0;
  const listed = causes.slice(1, 1 + MOST_LISTED).map((cause, at) => {
    return causeSentence(cells, cause, parts[at + 1]!, parts);
  });
  const untold = causes.length - 1 - listed.length;
  return tell(head, evidence, [
    ...details,
    isAgainst ? `Over all rows it went the other way: ${lowered(whole)}` : whole,
    ...listed,
    untold > 0 &&
      `${counted(untold, "further cause")} stand${untold === 1 ? "s" : ""} in the table`,
    ...more,
  ]);
}

/** What is said beside the causes: of ids, upgrades, placeholders, names, and what would have been seen. */
function moreTexts(cells: ChangeCells, account: Account) {
  const { parts, seen, news = [], placeholders = [] } = account;
  const isTooFew = seen === "nothing";
  return [
    cells.unlike,
    isTooFew && seenText(cells, account),
    // Of rows that are too few nobody knows that users only upgraded.
    ...(isTooFew ? [] : movesText(cells, account.moves)),
    ...placeholders.map(
      ({ where, dimension, value }) =>
        `Nearly all rows of ${elementText(where)} have ${dimension} ${valueText(value)}, which no other has: its program isn't compared by ${dimension}`,
    ),
    ...parts.map((part) => renamedText(part, parts)),
    ...news.map(
      ({ where, after }) =>
        `${elementText(where)} appeared, with ${amount(after, "")} ${cells.unit} and none in the earlier range.`,
    ),
    seen !== undefined && !isTooFew && seenText(cells, account),
  ];
}

/** What happened to a cause's rows, in a sentence or more: "Possibly probe_cc IT fell …. … it may be one user." */
export function causeSentence(...about: Parameters<typeof causeTexts>): string {
  const [headline, evidence, ...details] = causeTexts(...about);
  return tell(headline, evidence, details).sentence;
}

/** How the measure moved over all rows; nothing where that isn't known. */
export function movedOf(cells: ChangeCells, account: Account): Moved[] {
  const { earlier, later, label, unit, origin } = cells;
  const { before, after } = account;
  if (!isKnown(account)) return [];
  const by = shortChange(before, after, unit);
  const said = { change: after! - before!, by, ranges: periodText(earlier, later) };
  return [movedIn(later, spoken(label), origin.filter, said)];
}

/** "Measurements fell by 12,345 (23 %), from 53,000 to 41,000 in 8–14 May 2026 against 1–7 May 2026". */
function wholeText(cells: ChangeCells, { before, after }: Ends): string {
  const { label, unit, earlier, later, caution = "" } = cells;
  return `${spoken(label)} ${changeText(before, after, unit)} ${periodText(earlier, later)}${caution}`;
}

/** "in 8–14 May 2026 against 1–7 May 2026". */
function periodText(before: TimeRange, after: TimeRange): string {
  return `in ${rangeText(after)} against ${rangeText(before)}`;
}

/** "fell by 23 %". */
function shortChange(before: number | null, after: number | null, unit: string): string {
  const [was, is] = [before ?? 0, after ?? 0];
  if (!(was > 0)) return `rose to ${amount(is, unit)}`;
  return `${is < was ? "fell" : "rose"} by ${percent(Math.abs(is / was - 1))}`;
}

/** ", 80 % of the change"; nothing where it went against the change, or parts outweigh it by far. */
function partText(part: number | null): string {
  if (part === null || part < 0.01 || part > 2) return "";
  if (part > 1 + PART_TOLERANCE)
    return ", which is more than the change: other rows went the other way";
  return `, ${part > 1 - PART_TOLERANCE ? "all" : percent(part)} of the change`;
}

/** What happened, with its doubts. */
function causeTexts(cells: ChangeCells, cause: Cause, part: Part, parts: readonly Part[]): Texts {
  const [head, evidence, ...details] = factTexts(cells, cause, part, parts);
  const { doubt, open } = part;
  // Names keep their capitals.
  const lower = /^(All|The|It|Users) /.test(head) ? lowered(head) : head;
  return [
    doubt === undefined ? head : `Possibly ${lower}`,
    evidence,
    ...(doubt === undefined ? [] : [DOUBTS[doubt]]),
    ...details,
    ...(open === undefined ? [] : [openText(open)]),
  ];
}

function openText([one, other]: NonNullable<Part["open"]>): string {
  const wide = Object.keys(one).length === 0 ? "all" : elementText(one);
  return `These rows can't tell whether ${wide} did, or ${elementText(other)} alone`;
}

function factTexts(cells: ChangeCells, cause: Cause, part: Part, parts: readonly Part[]): Texts {
  switch (part.kind) {
    case "all": {
      const many = amount(Math.round(Math.abs(part.change)), "");
      return part.change < 0
        ? [`All ${cells.unit} are gone: ${many} before, none now`, ""]
        : [`${many} ${cells.unit} came where none did before`, ""];
    }
    case "release":
      return releaseTexts(cells, cause, part);
    case "runs hold":
      return runsTexts(cause, part, parts);
    case "release rate":
      return releaseRateTexts(cells, cause, part);
    case "mix": {
      const more = part.is < part.was ? "less" : "more";
      const headline = `The mix of ${part.name} changed: ${more} ${valueText(part.value)}`;
      return [headline, ...mixTexts(cells, part)];
    }
    case "moved":
      return movedTexts(cells, cause, part, parts.length);
  }
}

/** "probe_cc IT fell by 23 % (12,345 measurements)"; "From 53,000 to 41,000 measurements (change −13,100 to −10,900, 95 %)". */
function movedTexts(cells: ChangeCells, cause: Cause, part: Part, many: number): Texts {
  const { unit, quantile } = cells;
  const { before, after, low, high, change, where } = cause;
  const isAll = Object.keys(where).length === 0;
  const all = many > 1 ? "All other rows alike" : "All rows alike";
  const name = isAll ? all : `${part.rest ? "the rest of " : ""}${shortText(where)}`;
  const share = partText(cause.part);
  if (cells.kind === "rate") {
    const [was, is] = [before, after].map((value) => amount(value, rateUnit(cells)));
    const did = before === after ? "moved it by its weight" : `went from ${was} to ${is}`;
    const above = quantile === undefined ? "" : ` by the share above ${amount(quantile.at, unit)}`;
    const by = amount(Number(change.toPrecision(2)), unit);
    return [`${name} ${did}`, `It contributes ${change < 0 ? "" : "+"}${by}${above}${share}`];
  }
  const [was, is, least, most, by] = [before, after, low, high, Math.abs(change)].map((n) =>
    amount(Math.round(n ?? 0), ""),
  );
  const asIf = part.isAsIf ? ", had its runs held as many as before" : "";
  return [
    before === 0
      ? `${name} appeared, with ${by} ${unit}`
      : `${name} ${shortChange(before, after, unit)} (${by} ${unit})`,
    `From ${was} to ${is} ${unit} (change ${least} to ${most}, 95 %)${share}${asIf}`,
  ];
}

/** Of a release, or of a program whose release may have, what was expected of it and what came. */
function releaseTexts({ unit }: ChangeCells, cause: Cause, part: Part): Texts {
  const [before, after] = [cause.before ?? 0, cause.after ?? 0];
  const [is, was] = [after, before].map((value) => amount(Math.round(value), ""));
  const by = before > 0 ? ` (${signedPercent(after / before - 1)})` : "";
  const lost = `lost ${percent(Math.abs(after / before - 1))} of its ${unit}`;
  const fell = after < 0.05 * before ? "stopped" : lost;
  const came = part.isAsIf ? "would have come, had its runs held as many as before," : "came";
  return [
    `${shortText(cause.where)} ${after < before ? fell : `sends more ${unit}${by}`}`,
    `${is} ${unit} ${came} where ${was} were to be expected${by}${partText(cause.part)}`,
  ];
}

/** "app 3.10.0 ends its runs early (−59 %)"; "13 measurements a run where 31 were to be expected; its runs came as before (+3 %)". */
function runsTexts(cause: Cause, part: Part & RunsHold, parts: readonly Part[]): Texts {
  const { holds, held, grown, where, shown } = part;
  const isFewer = holds < held;
  const isAll = Object.keys(where).length === 0;
  const isRelease = Object.keys(where).some(isVersionColumn);
  const isShorter = isFewer && shown !== undefined && shown.is < (1 - TOTAL_TOLERANCE) * shown.was;
  const more = `${isFewer ? "fewer" : "more"} measurements`;
  const others = parts.filter((one) => one.kind === "runs hold").length > 1;
  const who = isAll ? `All ${others ? "other " : ""}runs alike` : shortText(where);
  const [does, doAll] = isShorter
    ? ["ends its runs early", "end early"]
    : shown && !isFewer
      ? ["is stored more than once", "are stored more than once"]
      : [`holds ${more} a run`, `hold ${more}`];
  const perRun = (n: number) => number(n >= 9.95 ? Math.round(n) : Number(n.toFixed(1)));
  const moved =
    Math.abs(grown - 1) < TOTAL_TOLERANCE ? "came as before" : grown < 1 ? "fell" : "rose";
  const each = perRun(holds) === "1" ? "measurement" : "measurements";
  return [
    `${who} ${isAll ? doAll : does} (${signedPercent(holds / held - 1)})`,
    `${perRun(holds)} ${each} a run where ${perRun(held)} were to be expected${partText(cause.part)}; ${isAll ? "" : "its "}runs ${moved} (${signedPercent(grown - 1)})`,
    ...(shown ? [shownText(shown, { isFewer, isShorter, isRelease })] : []),
  ];
}

/** What its runs show besides: how long they take, or how many rows are duplicates. */
function shownText(
  { was, is }: NonNullable<RunsHold["shown"]>,
  {
    isFewer,
    isShorter,
    isRelease,
  }: Readonly<Record<"isFewer" | "isShorter" | "isRelease", boolean>>,
): string {
  if (!isFewer) return `${percent(is)} of its rows are duplicates (${percent(was)} before)`;
  const [then, now] = [was, is].map((seconds) => amount(seconds, "s"));
  if (!isShorter)
    return `Its runs take as long as before (median ${now}, before ${then}): measurements within them are missing`;
  return isRelease
    ? `Its median run lasts ${now}; that of all releases lasted ${then} before`
    : `Median run duration fell from ${then} to ${now}`;
}

/** Of a release, what its rows have, and what those that its users came from had. */
function releaseRateTexts(cells: ChangeCells, cause: Cause, part: Part & ReleaseRate): Texts {
  const { quantile, rowNoun, unit } = cells;
  const [before, after] = [cause.before!, cause.after!];
  const name = shortText(cause.where);
  const value = (rate: number) => rateText(cells, rate);
  const [greater, smaller] = unit === "s" ? ["longer", "shorter"] : ["greater", "smaller"];
  const isAsBefore = part.had !== null && Math.abs(after / part.was - 1) < TOTAL_TOLERANCE;
  const head = isAsBefore
    ? `Users went to ${name}`
    : quantile === undefined
      ? `${name} went from ${value(before)} to ${value(after)}`
      : `${name} has ${after > before ? greater : smaller} ${rowNoun}`;
  const had = part.had === null ? "none before" : `before: ${percent(part.had)}`;
  return [
    head,
    `It has ${value(after)}${isAsBefore ? ", as before" : ""}; what its users had before had ${value(before)}${partText(cause.part)}`,
    `${percent(part.has)} of all ${rowNoun} are of it (${had})`,
  ];
}

/** Of which dimension the mix changed; what that makes up of the change. */
function mixTexts(
  cells: ChangeCells,
  { name, value, was, is, r0, r1, part }: MixShift,
): [string, string] {
  const within =
    part > 1 + TOTAL_TOLERANCE
      ? "within its values it moved the other way (Simpson's paradox)"
      : part > 1 - TOTAL_TOLERANCE
        ? "within its values hardly anything changed"
        : "the rest of it came about within its values";
  const own =
    Math.abs(r1 / r0 - 1) < TOTAL_TOLERANCE
      ? `${rateText(cells, r1)} of its own, as before`
      : `${rateText(cells, r1)} of its own (before: ${rateText(cells, r0)})`;
  return [
    `${name} ${valueText(value)} has ${percent(is)} of the ${cells.rowNoun} now and had ${percent(was)}, with ${own}`,
    `That mix of ${name} makes up ${percent(part)} of the change; ${within}`,
  ];
}

/** Of a quantile the share above its middle stands for it. */
function rateUnit({ quantile, unit }: ChangeCells): string {
  return quantile === undefined ? unit : "share";
}

function rateText(cells: ChangeCells, rate: number): string {
  const { quantile, unit } = cells;
  const above = quantile === undefined ? "" : ` above ${amount(quantile.at, unit)}`;
  return `${amount(rate, rateUnit(cells))}${above}`;
}

/** What would have been seen. */
function seenText(cells: ChangeCells, { seen }: Account): string {
  const { kind, quantile } = cells;
  if (seen === undefined || seen === "nothing") {
    const even =
      kind === "flow"
        ? "not even the loss of half of them would be certain"
        : "even if all of them moved by as much as they can, it would not show";
    return `These rows are too few: ${even}`;
  }
  const who = seen.part === 1 ? "All rows together" : `A part of ${percent(seen.part)} of the rows`;
  const part = `${who} would have had to`;
  if (kind === "flow")
    return `${part} lose ${percent(seen.least)} of their ${cells.unit} to be seen`;
  const above = quantile ? ` in the share above ${amount(quantile.at, cells.unit)}` : "";
  return `${part} move by ${percent(seen.least)}${above} to be seen`;
}

/** "software_name app may go on as software_name app2: as many measurements came as were lost". */
function renamedText(gone: Part, parts: readonly Part[]): string | undefined {
  const isGone = gone.kind !== "runs hold" && gone.after! < 0.05 * gone.before!;
  const came = parts.find(
    ({ before, where, change, half }) =>
      before! < 1 &&
      Object.keys(where).join() === Object.keys(gone.where).join() &&
      Math.abs(change + gone.change) < half + gone.half,
  );
  return isGone && came
    ? `${elementText(gone.where)} may go on as ${elementText(came.where)}: about as many came as were lost`
    : undefined;
}

/** Of programs that kept their rows: "app 3.9.1 → 3.10.0 (all its measurements: +3 %)". */
function movesText({ unit }: ChangeCells, moves: readonly Move[]): string[] {
  return ([false, true] as const).flatMap((isBack) => {
    const texts = moves
      .filter((move) => move.isBack === isBack && Math.abs(move.kept - 1) <= PART_TOLERANCE)
      .map(({ program, dimension, values, kept }) => {
        const whose = program === null ? dimension : valueText(program);
        const texts = values.map(valueText);
        // Of many the first and the last.
        const way = texts.length > 3 ? [texts[0], "…", texts.at(-1)] : texts;
        return `${whose} ${way.join(" → ")} (all its ${unit}: ${signedPercent(kept - 1)})`;
      });
    const listed = texts.slice(0, MOST_LISTED).join("; ");
    return texts.length === 0 ? [] : `Users also ${isBack ? "went back" : "upgraded"}: ${listed}.`;
  });
}

/** Columns whose values are known for programs without the column. */
const PROGRAM = /^(software|engine)_name$/i;

/** An element for a headline: its values alone where it has more than one of them, or names a program. */
function shortText(where: CauseWhere): string {
  const [values, names] = [Object.values(where), Object.keys(where)];
  const isBare = values.length > 1 || names.some((name) => PROGRAM.test(name));
  return isBare && !names.some(isVersionColumn)
    ? values.map(valueText).join(", ")
    : elementText(where);
}
