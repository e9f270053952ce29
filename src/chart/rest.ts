import { grouped } from "../base/text.js";
import type { Options } from "./options.js";
import { words } from "./render/label.js";
import type { Point, Rows } from "./rows.js";

/** How many times as large as the largest other value that of the rest may be. */
const MOST_REST = 3;

/**
 * Counts without what holds the values beyond the top ones, a category, a series or a panel, where it would
 * make all others too small to read: a note gives it.
 */
export function withoutRest(
  rows: Rows,
  { other }: Options,
  along: readonly ("x" | "series" | "panels")[],
): Rows {
  const { points, roles, series, panels = [], restX, xs } = rows;
  const [ownSeries, ownPanel] = [series, panels].map((all) => all.findIndex((one) => one.other));
  const parts = {
    x: { name: restX, column: roles.x, is: ({ x }: Point) => x === restX },
    series: {
      name: series[ownSeries!]?.label,
      column: roles.series[0] ?? "",
      is: ({ series }: Point) => series === ownSeries,
    },
    panels: {
      name: panels[ownPanel!]?.label,
      column: roles.facet ?? "",
      is: ({ panel }: Point) => panel === ownPanel,
    },
  };
  const rests = along.map((part) => parts[part]).filter(({ name }) => name !== undefined);
  if (roles.measure?.additive !== true || other === true || rests.length === 0) return rows;
  /** The largest value of one rest, or of none. */
  const largestOf = (own?: (typeof rests)[number]): number =>
    points
      .filter((point) => rests.every((each) => each.is(point) === (each === own)))
      .reduce((most, { y }) => Math.max(most, Number(y)), 0);
  const most = largestOf();
  const out = rests.filter(
    (rest) => most > 0 && largestOf(rest) > (other === false ? 0 : MOST_REST * most),
  );
  if (out.length === 0) return rows;
  const sum = (some: readonly Point[]): number => some.reduce((all, { y }) => all + Number(y), 0);
  const all = sum(points);
  const notes = out.map(({ name, column, is }) => {
    const part = sum(points.filter(is));
    const named = along.length > 1 ? `${name} (${words(column)})` : name;
    return `${named}: ${grouped(part)} of ${grouped(all)} (${Math.round((100 * part) / all)} %), not drawn.`;
  });
  const isOut = (part: keyof typeof parts): boolean => out.includes(parts[part]);
  // The rest is the last of its series and panels.
  return {
    ...rows,
    points: points.filter((point) => !out.some(({ is }) => is(point))),
    ...(isOut("x") && { xs: xs.filter((x) => x !== restX) }),
    ...(isOut("series") && { series: series.slice(0, ownSeries) }),
    ...(isOut("panels") && { panels: panels.slice(0, ownPanel) }),
    sentences: [...notes, ...rows.sentences],
  };
}
