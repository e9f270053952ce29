import { zoneOf, type Origin } from "../result/origin.js";
import type { Bucket } from "../time/bucket.js";
import { bucketNoun } from "../time/step.js";
import { formatRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { measureTitle } from "./axes.js";
import { count, type Drawing } from "./draw-rows.js";
import { cleanText, label, specText } from "./label.js";
import { textWidth, type FontWeight } from "./render/font.js";

/** `Measurements per week by software version, 2026-02-01 to 2026-05-01 UTC`. */
export function titleSentence(drawing: Drawing, origin: Origin): string {
  const { roles, every, series, seriesName } = drawing;
  const what = roles.measure?.label ?? label(roles.y);
  const along =
    roles.single !== undefined
      ? []
      : roles.xKind === "category"
        ? [words(roles.x)]
        : every === undefined
          ? []
          : [every as string];
  const by = [
    ...along,
    ...(series.length > 0 && seriesName !== undefined ? [words(seriesName)] : []),
  ];
  const additive = roles.measure?.additive === true && every !== undefined;
  const grouped = additive
    ? ` per ${every}${by.length > 1 ? ` by ${by.slice(1).join(" and ")}` : ""}`
    : by.length > 0
      ? `${what.includes(",") ? "," : ""} by ${by.join(" and ")}`
      : "";
  return [`${what}${grouped}`, ...originSpan(origin)].join(", ");
}

/** Which rows and which time were asked for, as far as known: `software_name = probe-cli`, `2026-02-01 to 2026-05-01 UTC`. */
export function originSpan({ filter, range }: Pick<Origin, "filter" | "range">): string[] {
  return [
    ...(filter === undefined ? [] : [label(filter, 200)]),
    ...(range ? [formatRange(range)] : []),
  ];
}

/** The same as a sentence; none where nothing is known of it. */
export function spanSentence(origin: Pick<Origin, "filter" | "range">): string[] {
  const span = originSpan(origin);
  return span.length === 0 ? [] : [`${span.join(", ")}.`];
}

/** Ends a sentence that has its last line to itself. */
const LINE_END = "\n";

/**
 * What the reader must know and the picture doesn't say, a sentence each; the user's own subtitle
 * first, on lines of its own once `wrap` has set them.
 */
export function subtitleSentences(
  drawing: Drawing,
  origin: Origin,
  options: { title?: string; subtitle?: string },
  faded: string,
): string[] {
  const { incomplete, every, points, sentences } = drawing;
  const zone = zoneOf(origin);
  const drawn = new Set(points.map(({ x }) => x));
  const partial = [...incomplete]
    .filter((x) => drawn.has(x))
    .map(Number)
    .sort((a, b) => a - b);
  const dates = partial.map((x) => formatInstant(new Date(x), zone));
  const edges =
    partial.length === 0
      ? []
      : [
          `Incomplete, drawn ${faded}: the ${noun(every, partial.length > 1)} from ${joined(dates)}.`,
        ];
  const known = points.some(({ y }) => y !== null);
  const empty =
    known || origin.notes.length > 0 ? [] : [origin.range ? "No data in this range." : "No data."];
  // The query has noted the incomplete buckets in its own words.
  // Of an empty chart the first note stands in the plot.
  const notes = (known ? origin.notes : origin.notes.slice(1)).filter(
    (note) => !dates.length || !dates.every((date) => note.includes(date)),
  );
  const own = cleanText(options.subtitle ?? "", 2_000);
  return [
    ...(own === "" ? [] : [`${own}${LINE_END}`]),
    ...(options.title === undefined ? [] : spanSentence(origin)),
    ...empty,
    ...edges,
    ...[...origin.reductions, ...sentences, ...notes],
  ].filter((sentence, at, all) => sentence !== "" && all.indexOf(sentence) === at);
}

/** The sentences on lines of at most `width` pixels, so that no title is cut. */
export function wrap(
  sentences: readonly string[],
  width: number,
  size: number,
  weight: FontWeight = 400,
): string[] {
  const lines: string[] = [];
  let line = "";
  for (const sentence of sentences) {
    for (const word of cleanText(sentence, 2_000).split(" ")) {
      const longer = line === "" ? word : `${line} ${word}`;
      if (line !== "" && textWidth(longer, size, weight) > width) {
        lines.push(line);
        line = word;
      } else {
        line = longer;
      }
    }
    if (sentence.endsWith(LINE_END) && line !== "") {
      lines.push(line);
      line = "";
    }
  }
  return (line === "" ? lines : [...lines, line]).map(specText);
}

const DESCRIBED = 8;

/** What the chart shows, made from its data, for those who can't see it. */
export function describe(drawing: Drawing, origin: Origin, title: string, kind: string): string {
  const { points, series, roles, xs, every } = drawing;
  const time = (x: number | string): string =>
    roles.xKind === "time" ? formatInstant(new Date(x), zoneOf(origin)) : String(x);
  const total = series.length || 1;
  const steps =
    every === undefined
      ? count(xs.length, "place", "places")
      : count(xs.length, noun(every, false), noun(every, true));
  const said = Array.from({ length: Math.min(total, DESCRIBED) }, (_, index) => {
    const own = points.filter((point) => point.series === index && point.y !== null);
    const first = own[0];
    const last = own.at(-1);
    if (!first || !last) return `${series[index]?.label ?? roles.y}: no data.`;
    const low = own.reduce((a, b) => (Number(b.y) < Number(a.y) ? b : a));
    const high = own.reduce((a, b) => (Number(b.y) > Number(a.y) ? b : a));
    const number = (value: number | null): string =>
      Number(value?.toPrecision(4)).toLocaleString("en-US");
    return `${series[index]?.label ?? label(roles.y)}: from ${number(first.y)} (${time(first.x)}) to ${number(last.y)} (${time(last.x)}), lowest ${number(low.y)} (${time(low.x)}), highest ${number(high.y)} (${time(high.x)}).`;
  });
  if (total > DESCRIBED) said.push(`And ${total - DESCRIBED} more series.`);
  return cleanText(
    `${kind}: ${title}. ${measureTitle(drawing)}, ${steps}, ${count(total, "series", "series")}. ${said.join(" ")}`,
    4_000,
  );
}

/** A column's name as words: `software_version` as `software version`. */
export function words(name: string): string {
  return label(name).replaceAll("_", " ").trim();
}

function noun(every: Bucket | undefined, many: boolean): string {
  return every === undefined ? (many ? "buckets" : "bucket") : bucketNoun(every, many);
}

function joined(texts: readonly string[]): string {
  return texts.length < 3
    ? texts.join(" and ")
    : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}
