import { cleanText, counted } from "../base/text.js";
import type { ChangeCells } from "./cells.js";
import type { Cause, Explained, Rate } from "./explain.js";
import type { FlowCause } from "./flow-causes.js";
import { releaseDimensions } from "./releases.js";
import type { RunSizeCause } from "./run-sizes.js";
import { USUAL, WHOLE } from "./thresholds.js";
import {
  amount,
  changeText,
  elementText,
  number,
  pathText,
  percent,
  periodText,
  signedPercent,
  valueText,
} from "./words.js";

/** Causes that the sentence names beside those with a sentence of their own. */
const MOST_LISTED = 3;
const MOST_MOVES = 3;

/** A release and what a cause names besides: the country, network, test. */
function releaseOf(cells: ChangeCells, where: Cause["where"]) {
  const { version, program } = releaseDimensions(cells);
  const [versionName = "", programName = ""] = [cells.names[version], cells.names[program]];
  const { [versionName]: release, [programName]: whose, ...place } = where;
  const named = [whose, release].flatMap((value) => (value === undefined ? [] : valueText(value)));
  const inPlace = Object.keys(place).length === 0 ? "" : ` in ${elementText(place)}`;
  return { release, name: named.join(" "), inPlace };
}

/** Of a release, what was expected of it and what came; undefined of other causes. */
export function releaseSentence(
  cells: ChangeCells,
  { where, before, after, part }: Cause,
  { kind, moved = [] }: Pick<FlowCause, "kind" | "moved">,
): string | undefined {
  const { release, name, inPlace } = releaseOf(cells, where);
  if ((release ?? kind) === undefined || before === null || after === null) return undefined;
  const rounded = (value: number) => amount(Math.round(value), "");
  const by = before > 0 ? ` (${signedPercent(after / before - 1)})` : "";
  const came = `${rounded(after)} ${cells.unit} came where ${rounded(before)} were to be expected${by}`;
  const share = part === null || part < 0.01 || part > 10 ? "" : `, ${percent(part)} of the change`;
  if (kind === "either") {
    const [from, to] = moved.map(valueText) as [string, string];
    const verb = after < before ? "lost" : "won";
    return `${name === "" ? "It" : name} ${verb} ${rounded(Math.abs(after - before))} ${cells.unit} (${percent(Math.abs(after / before - 1))})${inPlace} as its users moved from ${from} to ${to}${share}. These rows can't tell whether ${to} or the whole program did.`;
  }
  const verb =
    kind === "stopped" || after === 0 ? "stopped" : after < before ? "loses rows" : "sends more";
  return `${name} ${verb}${inPlace}: ${came}${share}.`;
}

const perRunText = (value: number) =>
  number(value >= 9.95 ? Math.round(value) : Number(value.toFixed(1)));

/** "app 3.10.0 ends its runs early: 13 measurements a run where 3.9.1 held 31 (−59 %). …" */
export function runSizeSentence(cause: RunSizeCause, part: number | null, kind: string): string {
  const { release, holds, held, runsBefore, runsAfter } = cause;
  const less = holds < held;
  const [now, before, by] = [perRunText(holds), perRunText(held), signedPercent(holds / held - 1)];
  const moved = runsAfter / runsBefore - 1;
  const whose = release === undefined ? "" : " over all its releases";
  const runs =
    Math.abs(moved) < WHOLE
      ? `Its runs came as before (${signedPercent(moved)}${whose}).`
      : `Its runs ${moved < 0 ? "fell" : "rose"}, too (${signedPercent(moved)}${whose}).`;
  const all =
    part === null || part < 0.01 || part > 10
      ? ""
      : ` That is ${Math.abs(part - 1) < USUAL ? "all" : percent(part)} of the ${kind}.`;
  if (release === undefined) {
    const subject = upper(elementText(cause.where));
    return `${subject}: its runs hold ${now} measurements where ${before} were to be expected (${by}). ${runs}${all}`;
  }
  const { program, version, previous, place } = release;
  const name = [...(program === null ? [] : [program]), version].map(valueText).join(" ");
  const inPlace = Object.keys(place).length === 0 ? "" : ` in ${elementText(place)}`;
  const other = previous === null ? "its other releases" : valueText(previous);
  return `${name}${inPlace} ${less ? "ends its runs early" : "holds more in its runs"}: ${now} measurements a run where ${other} held ${before} (${by}). ${runs}${all}`;
}

/**
 * Of a release in a share or mean: what its rows have, and what those that its users came from had.
 *
 * @param was its own rows. @param all all rows.
 */
export function releaseRateSentence(
  cells: ChangeCells,
  { where, before, after, part }: Cause,
  was: Rate,
  all: Rate,
): string | undefined {
  const { release, name, inPlace } = releaseOf(cells, where);
  if (release === undefined || before === null || after === null || cells.quantile)
    return undefined;
  const value = (rate: number) => amount(rate, cells.unit);
  const as =
    was.n0 > 0 && Math.abs(was.r1 / was.r0 - 1) < WHOLE ? `, as before (${value(was.r0)})` : "";
  const share = part === null || part < 0.01 || part > 10 ? "" : `, ${percent(part)} of the change`;
  return `${name}${inPlace} has ${value(after)}${as} where ${value(before)} was to be expected by what its users had${share}; ${percent(was.n1 / all.n1)} of all rows are of it (before: ${percent(was.n0 / all.n0)}).`;
}

/** What the mix of a dimension's values did to a rate. */
export function mixSentence(
  cells: ChangeCells,
  shift: {
    readonly name: string;
    readonly value: string | null;
    readonly share0: number;
    readonly share1: number;
  },
  part: number,
): string {
  return `${percent(part)} of the change is the mix of ${shift.name}, not a change within its values: ${valueText(shift.value)} has ${percent(shift.share1)} of the rows now and had ${percent(shift.share0)}.`;
}

/** The sentence of an explanation. */
export function explainSentence(cells: ChangeCells, explained: Explained): string {
  const { causes, before, after, remarks } = explained;
  const { unit } = cells;
  const what = `${cells.label} ${changeText(before, after, unit)} ${periodText(cells.earlier, cells.later)}${cells.caution ?? ""}.`;
  const tail = [movesText(cells, explained.moves), ...remarks].filter((text) => text !== "");
  if (before === null || after === null || (before === 0 && after === 0)) {
    const why =
      before === after
        ? "neither range holds"
        : before === null
          ? "the earlier range doesn't hold"
          : "the later range doesn't hold";
    return `${what} I can't tell what changed, because ${why} such rows.`;
  }
  if (causes.length === 0) {
    const nothing = `No part of it moved by more than is usual: nothing stands out in ${cells.names.join(", ")}.`;
    return [what, nothing, ...tail].join(" ");
  }
  const told = causes.flatMap(({ sentence }) => sentence ?? []);
  const others = causes.filter(({ sentence }) => sentence === undefined);
  const more = others.length - MOST_LISTED;
  const further = more > 0 ? `; and ${counted(more, "further cause")} in the table` : "";
  const listed = others
    .slice(0, MOST_LISTED)
    .map((cause) => causeText(cells, cause, causes.length > 1))
    .join("; ");
  const rest =
    told.length > 0 ? `Apart from that: ${listed}${further}.` : upper(`${listed}${further}.`);
  return [what, ...told, ...(listed === "" ? [] : [rest]), ...tail].join(" ");
}

/** "probe_cc IT fell by 12,345 (23 %), from 53,000 to 41,000, 80 % of the change". */
function causeText(cells: ChangeCells, cause: Cause, several: boolean): string {
  const { quantile, unit } = cells;
  const { before, after, part } = cause;
  const all = several ? "all other rows alike" : "all rows alike";
  const name = Object.keys(cause.where).length === 0 ? all : cause.text;
  const above = quantile === undefined ? "" : ` (share above ${amount(quantile.at, unit)})`;
  const own = quantile === undefined ? unit : "share";
  const share = part === null || Math.abs(part) > 10 ? "" : `, ${percent(part)} of the change`;
  if (cells.kind === "flow" && before === 0) {
    return `${name} is new, with ${amount(after, own)} ${unit}${share}`;
  }
  return `${name}${above} ${changeText(before, after, own)}${share}`;
}

/** Of programs that kept their rows; how well their numbers tell it, the reader sees. */
function movesText(cells: ChangeCells, moves: Explained["moves"]): string {
  const moved = moves
    .filter(({ kept }) => Math.abs(kept - 1) <= USUAL)
    .map(({ program, dimension, values, kept }) => {
      const whose = program === null ? "" : `${cleanText(program, 60)} `;
      return `${whose}${dimension} ${pathText(values)} (all its ${cells.unit}: ${signedPercent(kept - 1)})`;
    });
  return moved.length === 0 ? "" : `Users also upgraded: ${moved.slice(0, MOST_MOVES).join("; ")}.`;
}

function upper(text: string): string {
  return /^(all|the) /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
