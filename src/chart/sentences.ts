import { cleanText, counted, grouped, lowered } from "../base/text.js";
import { textWidth } from "./render/fonts/shipped-font.js";
import { zoneOf, type Origin } from "../result/origin.js";
import { bucketNoun } from "../time/step.js";
import { rangeText } from "../time/time-range.js";
import { dateText } from "../time/time-zone.js";
import { measureTitle } from "./axes.js";
import type { Rows, Point } from "./rows.js";
import { heading, label, words } from "./render/label.js";

/**
 * `Measurements per week by version`; in fewer words where these are longer than a line.
 *
 * @param across the label of the measure along x, of which each point has another.
 */
export function titleSentence(rows: Rows, width = Infinity, across?: string): string {
  const { roles, every, series } = rows;
  const measured = roles.measure?.label ?? heading(roles.y);
  const what = across === undefined ? measured : `${measured} against ${lowered(across)}`;
  const along = roles.xKind === "category" ? words(roles.x) : every;
  const perBucket = roles.measure?.additive === true && every !== undefined;
  const columns = [...(series.length > 0 ? roles.series : []), roles.facet ?? []].flat();
  const named = [...new Set(columns)].map((name) => words(name));
  const sentence = (parts: readonly string[]): string => {
    const by = parts.join(" and ");
    const per = perBucket ? ` per ${every}` : by !== "" && what.includes(",") ? "," : "";
    return `${what}${per}${by === "" ? "" : ` by ${by}`}`;
  };
  const whole = [...(along === undefined || perBucket ? [] : [along]), ...named];
  const forms = [whole, named, named.slice(0, 1), []].map(sentence);
  return forms.find((text) => textWidth(text, 16, 700) <= width) ?? what;
}

/** The filter and the time that were asked for, where known: `software_name = probe-cli`, `1 Feb–30 Apr 2026`. */
export function originSpan({ filter, range }: Pick<Origin, "filter" | "range">): string[] {
  return [
    ...(filter === undefined ? [] : [label(filter, 200)]),
    ...(range ? [rangeText(range)] : []),
  ];
}

/** The same as a sentence; none where nothing is known of it. */
export function spanSentence(origin: Pick<Origin, "filter" | "range">): string[] {
  const span = originSpan(origin);
  return span.length === 0 ? [] : [`${span.join(", ")}.`];
}

/** Sentences that the picture can't say, the most important first. */
export function chartSentences(
  rows: Rows,
  origin: Origin,
  faded: string,
  added: readonly string[],
): string[] {
  const { incomplete, points } = rows;
  const drawn = new Set(points.map(({ x }) => x));
  const shown = rows.edges ?? [...incomplete].filter((x) => drawn.has(x));
  const edges = shown.map(Number).sort((a, b) => a - b);
  const zone = zoneOf(origin);
  const dates = edges.map((x) => dateText(new Date(x), zone));
  const known = points.some(({ y }) => y !== null);
  const reason = known ? undefined : whyEmpty(origin);
  const empty = known || reason !== undefined ? [] : [noDataSentence(origin, rows)];
  // The query has noted incomplete buckets itself; why a chart is empty is in the plot.
  const notes = origin.notes.filter(
    (note) =>
      note !== reason && (dates.length === 0 || !dates.every((date) => note.includes(date))),
  );
  const all = [
    ...spanSentence(origin),
    ...empty,
    ...incompleteSentence(rows, edges, rows.edges ? "not drawn" : faded, zone),
    ...[...origin.reductions, ...rows.sentences, ...added, ...notes],
  ];
  return [...new Set(all)];
}

/** Names the drawn buckets that the range covers only in part: its first, its last, or both. */
function incompleteSentence(
  { xs, every }: Rows,
  edges: readonly number[],
  faded: string,
  timeZone: string,
): string[] {
  const [first, ...others] = edges;
  if (first === undefined) return [];
  const noun = every === undefined ? "bucket" : bucketNoun(every, false);
  if (others.length > 0) return [`The first and last ${noun} are incomplete (${faded}).`];
  const [start, end] = [Number(xs[0]), Number(xs.at(-1))];
  const place = first <= start ? "first " : first >= end ? "last " : "";
  const at = place === "" ? ` of ${dateText(new Date(first), timeZone)}` : "";
  return [`The ${xs.length === 1 ? "" : place}${noun}${at} is incomplete (${faded}).`];
}

/** The note of an empty Result that says why; others say how it was asked. */
function whyEmpty({ notes }: Origin): string | undefined {
  return notes.find((note) => /\b(no|none|0 of)\b/i.test(note));
}

/** Says why a chart is empty. */
export function noDataSentence(origin: Origin, { points, roles }: Rows): string {
  if (points.length > 0) {
    const what = roles.measure?.label ?? heading(roles.y);
    const where = points.length === 1 ? "the only row" : `all ${counted(points.length, "row")}`;
    return `No data: ${what} is unknown in ${where}.`;
  }
  const reason = whyEmpty(origin);
  if (reason !== undefined) return `No data: ${reason}`;
  return origin.range ? "No data in this range." : "No data.";
}

const DESCRIBED = 8;

/** A description of the data and of all notes, for those who can't see the picture. */
export function describe(
  rows: Rows,
  origin: Origin,
  title: string,
  kind: string,
  sentences: readonly string[],
): string {
  const { points, series, roles, xs, every, panels = [undefined] } = rows;
  const pointText = ({ x, y }: Point): string => {
    const place = roles.xKind === "time" ? dateText(new Date(x), zoneOf(origin)) : String(x);
    return `${grouped(Number(y?.toPrecision(4)))} (${place})`;
  };
  const total = series.length || 1;
  const steps =
    every === undefined ? ["place"] : [false, true].map((many) => bucketNoun(every, many));
  const lines = panels.flatMap((panel, at) =>
    Array.from({ length: total }, (_, index) => ({
      name: [panel?.label ?? [], series[index]?.label ?? (panel ? [] : label(roles.y))].flat(),
      own: points.filter(
        (point) => point.series === index && point.y !== null && (!panel || point.panel === at),
      ),
    })),
  );
  const said = lines.slice(0, DESCRIBED).map(({ name: names, own }) => {
    const name = names.join(", ");
    const [first] = own;
    if (first === undefined) return `${name}: no data.`;
    const low = own.reduce((a, b) => (Number(b.y) < Number(a.y) ? b : a));
    const high = own.reduce((a, b) => (Number(b.y) > Number(a.y) ? b : a));
    return `${name}: from ${pointText(first)} to ${pointText(own.at(-1)!)}, lowest ${pointText(low)}, highest ${pointText(high)}.`;
  });
  if (lines.length > DESCRIBED) said.push(`And ${lines.length - DESCRIBED} more.`);
  const size = [
    counted(xs.length, steps[0]!, steps[1]),
    ...(rows.panels ? [counted(panels.length, "panel")] : []),
    counted(total, "series", "series"),
  ].join(", ");
  const head = `${kind}: ${title}. ${measureTitle(rows)}, ${size}.`;
  return cleanText([head, ...said, ...sentences].join(" "), 6_000);
}
