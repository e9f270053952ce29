import { cleanText, counted, grouped } from "../base/text.js";
import { zoneOf, type Origin } from "../result/origin.js";
import { bucketNoun } from "../time/step.js";
import { formatRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { measureTitle } from "./axes.js";
import type { Drawing } from "./draw-rows.js";
import { heading, label, specText, words, wrap } from "../render/label.js";

/** `Measurements per week by version, 2026-02-01 to 2026-05-01 UTC`. */
export function titleSentence(drawing: Drawing, origin: Origin): string {
  const { roles, every, series } = drawing;
  const what = roles.measure?.label ?? heading(roles.y);
  const along = roles.xKind === "category" ? words(roles.x) : every;
  const perBucket = roles.measure?.additive === true && every !== undefined;
  const by = [
    ...(along === undefined || perBucket ? [] : [along]),
    ...(series.length > 0 ? roles.series.map((name) => words(name)) : []),
  ].join(" and ");
  const per = perBucket ? ` per ${every}` : by !== "" && what.includes(",") ? "," : "";
  return [`${what}${per}${by === "" ? "" : ` by ${by}`}`, ...originSpan(origin)].join(", ");
}

/** The filter and the time that were asked for, where known: `software_name = probe-cli`, `2026-02-01 to 2026-05-01 UTC`. */
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

/** Sentences that the picture can't say, the most important first. */
export function chartSentences(
  drawing: Drawing,
  origin: Origin,
  titled: boolean,
  faded: string,
  added: readonly string[],
): string[] {
  const { incomplete, points } = drawing;
  const drawn = new Set(points.map(({ x }) => x));
  const edges = [...incomplete].filter((x) => drawn.has(x)).map(Number);
  const dates = edges.map((x) => formatInstant(new Date(x), zoneOf(origin)));
  const known = points.some(({ y }) => y !== null);
  const empty = known || origin.notes.length > 0 ? [] : [noDataSentence(origin)];
  // The query has noted incomplete buckets itself; of an empty chart the first note is in the plot.
  const notes = (known ? origin.notes : origin.notes.slice(1)).filter(
    (note) => dates.length === 0 || !dates.every((date) => note.includes(date)),
  );
  const all = [
    ...(titled ? spanSentence(origin) : []),
    ...empty,
    ...incompleteSentence(
      drawing,
      edges.sort((a, b) => a - b),
      faded,
      zoneOf(origin),
    ),
    ...[...origin.reductions, ...drawing.sentences, ...added, ...notes],
  ];
  return [...new Set(all)];
}

/** Names the drawn buckets that the range covers only in part: its first, its last, or both. */
function incompleteSentence(
  { xs, every }: Drawing,
  edges: readonly number[],
  faded: string,
  timeZone: string,
): string[] {
  const [first, last = first] = edges;
  if (first === undefined || last === undefined) return [];
  const noun = every === undefined ? "bucket" : bucketNoun(every, false);
  const [begins, ends] = [xs[0] === first, xs.at(-1) === last];
  const which =
    edges.length > 1
      ? `first and last ${noun} are`
      : begins && ends
        ? `${noun} is`
        : begins || ends
          ? `${begins ? "first" : "last"} ${noun} is`
          : `${noun} of ${formatInstant(new Date(first), timeZone)} is`;
  return [`The ${which} incomplete (${faded}).`];
}

/**
 * A subtitle of one line: as many sentences as it holds, whole, of the first what it holds. The rest
 * are the chart's notes: under a picture in a file, behind the pointer where the chart is live.
 */
export function subtitleLine(
  sentences: readonly string[],
  width: number,
): { readonly lines: readonly string[]; readonly notes: readonly string[] } {
  const clean = sentences.map((text) => cleanText(text, 2_000)).filter((text) => text !== "");
  const [first = "", ...more] = wrap(clean, width, SUBTITLE_SIZE);
  if (more.length === 0) return { lines: first === "" ? [] : [first], notes: [] };
  let whole = clean.length;
  while (whole > 0 && clean.slice(0, whole).join(" ").length > first.length) whole--;
  const line = whole === 0 ? `${first} …` : clean.slice(0, whole).join(" ");
  return { lines: [specText(line)], notes: clean.slice(whole) };
}

/** Says why a chart is empty, with the Result's first note. */
export function noDataSentence({ notes: [first], range }: Origin): string {
  if (first !== undefined) return `No data: ${first}`;
  return range ? "No data in this range." : "No data.";
}

const DESCRIBED = 8;
const SUBTITLE_SIZE = 12;

/** A description of the data and of all notes, for those who can't see the picture. */
export function describe(
  drawing: Drawing,
  origin: Origin,
  title: string,
  kind: string,
  sentences: readonly string[],
): string {
  const { points, series, roles, xs, every } = drawing;
  const place = (x: number | string): string =>
    roles.xKind === "time" ? formatInstant(new Date(x), zoneOf(origin)) : String(x);
  const number = (value: number | null): string => grouped(Number(value?.toPrecision(4)));
  const total = series.length || 1;
  const steps =
    every === undefined
      ? counted(xs.length, "place")
      : counted(xs.length, bucketNoun(every, false), bucketNoun(every, true));
  const said = Array.from({ length: Math.min(total, DESCRIBED) }, (_, index) => {
    const own = points.filter((point) => point.series === index && point.y !== null);
    const [first, last] = [own[0], own.at(-1)];
    if (!first || !last) return `${series[index]?.label ?? roles.y}: no data.`;
    const low = own.reduce((a, b) => (Number(b.y) < Number(a.y) ? b : a));
    const high = own.reduce((a, b) => (Number(b.y) > Number(a.y) ? b : a));
    return `${series[index]?.label ?? label(roles.y)}: from ${number(first.y)} (${place(first.x)}) to ${number(last.y)} (${place(last.x)}), lowest ${number(low.y)} (${place(low.x)}), highest ${number(high.y)} (${place(high.x)}).`;
  });
  if (total > DESCRIBED) said.push(`And ${total - DESCRIBED} more series.`);
  const columns = [roles.x, ...roles.series, roles.y].map((name) => label(name)).join(", ");
  const size = `${steps}, ${counted(total, "series", "series")}`;
  return cleanText(
    [
      `${kind}: ${title}. ${measureTitle(drawing)}, ${size}.`,
      ...[...said, ...sentences],
      `Columns: ${columns}.`,
    ].join(" "),
    6_000,
  );
}
