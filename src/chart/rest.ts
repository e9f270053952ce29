import { grouped } from "../base/text.js";
import type { Rows, Point } from "./rows.js";
import type { Options } from "./options.js";

/** How many times as large as the largest other value that of the rest may be. */
const MOST_REST = 3;

/**
 * Counts without what holds the values beyond the top ones, a category, a series or a panel, where it would
 * make all others too small to read: a note gives it.
 *
 * @param parts the names of what holds the rest, and its points.
 */
export function withoutRest(
  rows: Rows,
  { other }: Options,
  parts: readonly (readonly [name: string | undefined, isRest: (point: Point) => boolean])[],
): Rows {
  const { points, roles } = rows;
  const rests = parts.filter(([name]) => name !== undefined);
  if (roles.measure?.additive !== true || other === true || rests.length === 0) return rows;
  const largest = (some: readonly Point[]): number =>
    some.reduce((most, { y }) => Math.max(most, Number(y)), 0);
  /** The largest value of one rest, or of none. */
  const largestOf = (own: ((point: Point) => boolean) | undefined): number =>
    largest(points.filter((point) => rests.every(([, is]) => is(point) === (is === own))));
  const most = largestOf(undefined);
  const isLeftOut = (isRest: (point: Point) => boolean): boolean =>
    most > 0 && largestOf(isRest) > (other === false ? 0 : MOST_REST * most);
  const out = rests.filter(([, isRest]) => isLeftOut(isRest));
  if (out.length === 0) return rows;
  const sum = (some: readonly Point[]): number => some.reduce((all, { y }) => all + Number(y), 0);
  const all = sum(points);
  const notes = out.map(([name, isRest]) => {
    const part = sum(points.filter(isRest));
    return `${name}: ${grouped(part)} of ${grouped(all)} (${Math.round((100 * part) / all)} %), not drawn.`;
  });
  const kept = points.filter((point) => !out.some(([, isRest]) => isRest(point)));
  return { ...rows, points: kept, sentences: [...notes, ...rows.sentences] };
}

/** Without the series of the rest, where it would flatten the others. */
export function withoutRestSeries(rows: Rows, options: Options): Rows {
  const { series } = rows;
  const rest = series.findIndex(({ other }) => other);
  const kept = withoutRest(rows, options, [
    [series[rest]?.label, (point) => point.series === rest],
  ]);
  // It is the last.
  return kept === rows ? rows : { ...kept, series: series.slice(0, rest) };
}
