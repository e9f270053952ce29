import { cleanText, counted } from "../base/text.js";
import { zoneOf, type Origin } from "../result/origin.js";
import type { Bucket } from "../time/bucket.js";
import { bucketNoun } from "../time/step.js";
import { formatRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { measureTitle } from "./axes.js";
import type { Drawing } from "./draw-rows.js";
import { label, specText, words } from "./label.js";
import { textWidth, type FontWeight } from "../fonts/shipped-font.js";

/** `Measurements per week by software version, 2026-02-01 to 2026-05-01 UTC`. */
export function titleSentence(drawing: Drawing, origin: Origin): string {
  const { roles, every, series, seriesName } = drawing;
  const what = roles.measure?.label ?? label(roles.y);
  const along = roles.xKind === "category" ? words(roles.x) : every;
  const perBucket = roles.measure?.additive === true && every !== undefined;
  const by = [
    ...(along === undefined || perBucket ? [] : [along]),
    ...(series.length > 0 && seriesName !== undefined ? [words(seriesName)] : []),
  ].join(" and ");
  const per = perBucket ? ` per ${every}` : by !== "" && what.includes(",") ? "," : "";
  return [`${what}${per}${by === "" ? "" : ` by ${by}`}`, ...originSpan(origin)].join(", ");
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

/** What the reader must know and the picture doesn't say, the user's own subtitle first. */
export function subtitleSentences(
  drawing: Drawing,
  origin: Origin,
  options: { title?: string; subtitle?: string },
  faded: string,
  added: readonly string[],
): string[] {
  const { incomplete, every, points } = drawing;
  const drawn = new Set(points.map(({ x }) => x));
  const dates = [...incomplete]
    .filter((x) => drawn.has(x))
    .map(Number)
    .sort((a, b) => a - b)
    .map((x) => formatInstant(new Date(x), zoneOf(origin)));
  const known = points.some(({ y }) => y !== null);
  const empty = known || origin.notes.length > 0 ? [] : [noDataSentence(origin)];
  // The query has noted incomplete buckets itself; of an empty chart the first note is in the plot.
  const notes = (known ? origin.notes : origin.notes.slice(1)).filter(
    (note) => dates.length === 0 || !dates.every((date) => note.includes(date)),
  );
  const own = cleanText(options.subtitle ?? "", 2_000);
  return [
    own === "" ? "" : `${own}${LINE_END}`,
    ...(options.title === undefined ? [] : spanSentence(origin)),
    ...empty,
    dates.length === 0
      ? ""
      : `Incomplete, drawn ${faded}: the ${stepNoun(every, dates.length > 1)} from ${AND.format(dates)}.`,
    ...[...origin.reductions, ...drawing.sentences, ...added, ...notes],
  ].filter((sentence, at, all) => sentence !== "" && all.indexOf(sentence) === at);
}

/** Why a chart is empty: the first note of the Result tells it. */
export function noDataSentence({ notes: [first], range }: Origin): string {
  if (first !== undefined) return `No data: ${first}`;
  return range ? "No data in this range." : "No data.";
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

const AND = new Intl.ListFormat("en-GB");
const DESCRIBED = 8;

/** What the chart shows, made from its data, for those who can't see it. */
export function describe(drawing: Drawing, origin: Origin, title: string, kind: string): string {
  const { points, series, roles, xs, every } = drawing;
  const place = (x: number | string): string =>
    roles.xKind === "time" ? formatInstant(new Date(x), zoneOf(origin)) : String(x);
  const number = (value: number | null): string =>
    Number(value?.toPrecision(4)).toLocaleString("en-US");
  const total = series.length || 1;
  const steps =
    every === undefined
      ? counted(xs.length, "place")
      : counted(xs.length, stepNoun(every, false), stepNoun(every, true));
  const said = Array.from({ length: Math.min(total, DESCRIBED) }, (_, index) => {
    const own = points.filter((point) => point.series === index && point.y !== null);
    const [first, last] = [own[0], own.at(-1)];
    if (!first || !last) return `${series[index]?.label ?? roles.y}: no data.`;
    const low = own.reduce((a, b) => (Number(b.y) < Number(a.y) ? b : a));
    const high = own.reduce((a, b) => (Number(b.y) > Number(a.y) ? b : a));
    return `${series[index]?.label ?? label(roles.y)}: from ${number(first.y)} (${place(first.x)}) to ${number(last.y)} (${place(last.x)}), lowest ${number(low.y)} (${place(low.x)}), highest ${number(high.y)} (${place(high.x)}).`;
  });
  if (total > DESCRIBED) said.push(`And ${total - DESCRIBED} more series.`);
  return cleanText(
    `${kind}: ${title}. ${measureTitle(drawing)}, ${steps}, ${counted(total, "series", "series")}. ${said.join(" ")}`,
    4_000,
  );
}

function stepNoun(every: Bucket | undefined, many: boolean): string {
  return every === undefined ? (many ? "buckets" : "bucket") : bucketNoun(every, many);
}
