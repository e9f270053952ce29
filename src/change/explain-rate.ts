import { CONFIDENCES } from "../query/wilson.js";
import type { ChangeCells } from "./cells.js";
import { leavesBy, sumOver, without } from "./cuboids.js";
import type { Account, Part } from "./explain-flow.js";
import { rateCauses } from "./rate-causes.js";
import { namedRows, releaseName, upgrade } from "./releases.js";
import { CERTAIN, USUAL, WHOLE } from "./thresholds.js";
import { amount, partText, percent, valueText } from "./words.js";

/** Rows and rate, before and after. */
interface Rate {
  readonly n0: number;
  readonly n1: number;
  readonly r0: number;
  readonly r1: number;
}

/** Of some leaves, or of all. */
function rateOf(cells: ChangeCells, leaves?: readonly number[]): Rate {
  const [n0, n1] = [sumOver(cells.before, leaves), sumOver(cells.after, leaves)];
  const [part0, part1] = [sumOver(cells.partBefore, leaves), sumOver(cells.partAfter, leaves)];
  return { n0, n1, r0: part0 / n0, r1: part1 / n1 };
}

/**
 * The change of a share, mean or quantile: parts whose own rate changed; else the dimension whose mix
 * of values did; else what all rows did alike. Each contributes by its rate and by its weight.
 */
export function rateAccount(given: ChangeCells): Account {
  // What was to be expected of each release, as users went from one to the next with what they had.
  const moved = upgrade(given, given);
  const cells = { ...given, before: moved(given.before), partBefore: moved(given.partBefore) };
  const { before, after, partBefore, partAfter, variance, quantile } = cells;
  const { causes } = rateCauses({
    ...cells.leaves,
    allBefore: before,
    partBefore,
    allAfter: after,
    partAfter,
    ...(variance !== undefined && {
      spreadBefore: before.map((n) => n * variance),
      spreadAfter: after.map((n) => n * variance),
    }),
  });
  const all = rateOf(cells);
  const whole = all.r1 - all.r0;
  // A quantile moves as the share above its middle does, turned into its own unit.
  const scale =
    quantile === undefined || whole === 0 ? 1 : (quantile.after - quantile.before) / whole;
  const spread = (rate: number) => variance ?? Math.max(0, rate * (1 - rate));
  const part = (rows: Pick<Part, "where" | "leaves" | "rest">): Part => {
    const own = rateOf(cells, rows.leaves);
    const { n0, n1 } = own;
    const w0 = all.n0 > 0 ? n0 / all.n0 : 0;
    const w1 = all.n1 > 0 ? n1 / all.n1 : 0;
    // A part without rows has the rate that it has on the other side: it changed by its weight alone.
    const r0 = n0 > 0 ? own.r0 : n1 > 0 ? own.r1 : 0;
    const r1 = n1 > 0 ? own.r1 : r0;
    const mix = (w1 - w0) * ((r0 + r1) / 2 - (all.r0 + all.r1) / 2) * scale || 0;
    const rate = ((w0 + w1) / 2) * (r1 - r0) * scale || 0;
    const error = Math.sqrt(spread((r0 + r1) / 2) * (1 / Math.max(1, n0) + 1 / Math.max(1, n1)));
    const half = n0 + n1 > 0 ? CONFIDENCES[0.95] * ((w0 + w1) / 2) * error * Math.abs(scale) : 0;
    const ends = { before: n0 > 0 ? own.r0 : null, after: n1 > 0 ? own.r1 : null };
    return { ...rows, ...ends, change: mix + rate, half, rate, mix };
  };
  const asBefore = after.map((n, leaf) =>
    before[leaf]! > 0 ? (n * partBefore[leaf]!) / before[leaf]! : n * all.r0,
  );
  const parts = causes.map((each): Part => {
    const own = part(namedRows(cells, each, asBefore, partAfter));
    const share = whole === 0 ? null : own.change / (whole * scale);
    return { ...own, sentence: releaseSentence(cells, own, share, rateOf(given, own.leaves), all) };
  });
  const pooled = (all.r0 * all.n0 + all.r1 * all.n1) / (all.n0 + all.n1);
  const error = Math.sqrt(spread(pooled) * (1 / all.n0 + 1 / all.n1));
  const real = Math.abs(whole) > CERTAIN * error && Math.abs(whole) > USUAL * Math.abs(all.r0);
  const remarks: string[] = [];
  if (real && parts.length === 0) {
    const shift = mostMixed(given, all);
    const by = shift.mix / whole;
    if (by > 0.5) remarks.push(mixSentence(shift, by));
    const { name, value, leaves } = shift;
    parts.push(
      part(
        by > 0.5
          ? { where: { [name]: value }, leaves }
          : { where: {}, leaves: without(before.length, []) },
      ),
    );
  }
  const ends = { before: all.n0 > 0 ? all.r0 : null, after: all.n1 > 0 ? all.r1 : null };
  const rest = part({ where: {}, leaves: without(before.length, parts) });
  return { ...(quantile ?? ends), parts, rest, moves: [], remarks, notes: [] };
}

/** The dimension whose values' weights make up most of a rate's change, and the value with most of it. */
function mostMixed(cells: ChangeCells, all: Rate) {
  const middle = (all.r0 + all.r1) / 2;
  const list = cells.names.map((name, at) => {
    const values = [...leavesBy(cells.leaves.codes[at]!)].map(([code, leaves]) => {
      const { n0, n1, r0, r1 } = rateOf(cells, leaves);
      const rate = ((n0 > 0 ? r0 : r1) + (n1 > 0 ? r1 : r0)) / 2;
      const mix = n0 + n1 > 0 ? (n1 / all.n1 - n0 / all.n0) * (rate - middle) : 0;
      return { value: cells.values[at]![code]!, leaves, mix, was: n0 / all.n0, is: n1 / all.n1 };
    });
    const most = values.reduce((a, b) => (Math.abs(b.mix) > Math.abs(a.mix) ? b : a));
    return { name, ...most, mix: values.reduce((sum, { mix }) => sum + mix, 0) };
  });
  const sign = Math.sign(all.r1 - all.r0);
  return list.reduce((a, b) => (b.mix * sign > a.mix * sign ? b : a));
}

/** Of a mix that explains more than the change the rest went the other way (Simpson's paradox). */
function mixSentence({ name, value, was, is }: ReturnType<typeof mostMixed>, part: number): string {
  const within =
    part > 1.2
      ? `within its values it moved the other way (Simpson's paradox)`
      : "not a change within its values";
  return `${percent(part)} of the change is the mix of ${name}, ${within}: ${valueText(value)} has ${percent(is)} of the rows now and had ${percent(was)}.`;
}

/**
 * Of a release, what its rows have, and what those that its users came from had; undefined of others.
 *
 * @param was its own rows. @param all all rows.
 */
function releaseSentence(
  cells: ChangeCells,
  { where, before, after }: Part,
  part: number | null,
  was: Rate,
  all: Rate,
): string | undefined {
  const { release, name, inPlace } = releaseName(cells, where);
  if (release === undefined || before === null || after === null || cells.quantile)
    return undefined;
  const value = (rate: number) => amount(rate, cells.unit);
  const as =
    was.n0 > 0 && Math.abs(was.r1 / was.r0 - 1) < WHOLE ? `, as before (${value(was.r0)})` : "";
  return `${name}${inPlace} has ${value(after)}${as} where ${value(before)} was to be expected by what its users had${partText(part)}; ${percent(was.n1 / all.n1)} of all rows are of it (before: ${percent(was.n0 / all.n0)}).`;
}
