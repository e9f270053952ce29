import { formatInstant } from "../../time/time-zone.js";
import type { VegaLiteSpec } from "../../render/theme.js";
import type { Cube } from "./cube.js";

// The brush is in buckets: half of one counts as all of it, so that what is shown is a question
// that can be asked. [lo, hi) are the buckets chosen, [was, lo) as many before them.
export function params({ edges, time, result, zone }: Cube): VegaLiteSpec[] {
  const { range } = result.origin;
  const size = edges.length - 1;
  const incomplete = new Set(time.incomplete.map(Number));
  const complete = edges.slice(0, -1).map((edge) => !incomplete.has(edge));
  const [first, last] = [complete.indexOf(true), complete.lastIndexOf(true)];
  const [start, end] = [Number(range?.start ?? NaN), Number(range?.end ?? NaN)];
  const shown = edges.map((edge, at) => {
    const cut = (at === 0 && start > edge && start) || (at === size && end < edge && end);
    return formatInstant(new Date(cut || edge), zone);
  });
  const expressions = {
    spanned: "isArray(brush.i)",
    from: `spanned ? clamp(min(brush.i[0], brush.i[1]), 0, ${size}) : 0`,
    until: `spanned ? clamp(max(brush.i[0], brush.i[1]), 0, ${size}) : ${size}`,
    lo: `round(from) < round(until) ? round(from) : min(${size - 1}, floor((from + until) / 2))`,
    hi: "max(lo + 1, round(until))",
    was: "lo - (hi - lo)",
    compared: `spanned && was >= ${Math.max(0, first)} && hi <= ${last + 1}`,
  };
  return [
    { name: "edges", value: shown },
    ...Object.entries(expressions).map(([name, expr]) => ({ name, expr })),
  ];
}

export const chosenOf = (at: number): string => `pick${at}.d${at}`;
export const isChosen = (at: number): string =>
  `(!isArray(${chosenOf(at)}) || indexof(${chosenOf(at)}, datum.d${at}) >= 0)`;
export const SHOWN = "datum.i >= lo && datum.i < hi";
export const BEFORE = "compared && datum.i >= was && datum.i < lo";

/**
 * The sums of all rows (`a`), of those shown (`f`) and of those as long before (`b`), by the fields
 * `groupby`; with the quotients under these names where the measure is one. `g` is everything, brought to
 * the total of what is shown, so that a longer bar is one that has more than its share.
 */
export function summed(
  { names, sums }: Cube,
  groupby: readonly string[],
  own: number | undefined,
  within: string,
): VegaLiteSpec[] {
  const chosen = names.flatMap((_, at) => (at === own ? [] : [isChosen(at)]));
  const passes = [...chosen, within].join(" && ");
  const parts = sums.flatMap((_, part) => [
    { calculate: `${passes} ? datum.v${part} : 0`, as: `f${part}` },
    { calculate: `${[...chosen, BEFORE].join(" && ")} ? datum.v${part} : 0`, as: `b${part}` },
  ]);
  const sum = (field: string, as = field) => ({ op: "sum", field, as });
  const whole = (which: string): string =>
    sums.length === 1
      ? `datum.${which}0`
      : `datum.${which}1 > 0 ? datum.${which}0 / datum.${which}1 : null`;
  return [
    ...parts,
    {
      aggregate: sums.flatMap((_, part) => ["v", "f", "b"].map((which) => sum(`${which}${part}`))),
      groupby,
    },
    { calculate: whole("v"), as: "a" },
    { calculate: whole("f"), as: "f" },
    { calculate: `compared ? (${whole("b")}) : null`, as: "b" },
    ...(sums.length > 1
      ? [{ calculate: "datum.a", as: "g" }]
      : [
          { joinaggregate: [sum("a", "a_total"), sum("f", "f_total")] },
          {
            calculate: "datum.a_total > 0 ? datum.a * datum.f_total / datum.a_total : 0",
            as: "g",
          },
        ]),
  ];
}

/** Texts of numbers: `full` for tooltips, `short` for bars, `change` against as long before. */
export function numberTexts({ measure, result, sums }: Cube) {
  const share = measure.unit === "share";
  const whole =
    sums.length === 1 && result.column(sums[0]!).every((value) => Number.isInteger(Number(value)));
  const percentOf = (value: string, digits: number): string =>
    `format(100 * ${value}, ".${digits}f") + " %"`;
  const some = (value: string, text: string): string => `isValid(${value}) ? ${text} : "none"`;
  const full = (value: string): string =>
    some(value, share ? percentOf(value, 2) : `format(${value}, "${whole ? ",d" : ",.4~r"}")`);
  const short = (value: string): string =>
    some(
      value,
      share
        ? percentOf(value, 1)
        : `abs(${value}) < 1e4 ? format(${value}, "${whole ? ",d" : ",.3~r"}") : format(${value}, ".3s")`,
    );
  // With a sign of its own: "+.1f" would give a small loss as "−0.0".
  const percent = (value: string): string =>
    `(${value} >= 0.05 ? "+" : "") + format(${value}, abs(${value}) < 9.95 ? ".1f" : ",.0f")`;
  const by = share
    ? `${percent("(100 * (datum.f - datum.b))")} + " pp"`
    : `datum.b > 0 ? ${percent("(100 * (datum.f / datum.b - 1))")} + " %" : datum.f > 0 ? "new" : ""`;
  return { full, short, change: `isValid(datum.b) && isValid(datum.f) ? (${by}) : ""` };
}
