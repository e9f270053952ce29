import { bind, join, nested, raw, select, sql, type Sql } from "./sql.js";

/** Cells (a row per bucket and group) and how they are ranked and merged. */
export interface Cells {
  readonly sql: Sql;
  /** True where the cells have `_t`, the start of a bucket. */
  readonly time: boolean;
  /** The columns of the dimensions that are ranked: those beyond the top are merged. */
  readonly ranked: readonly string[];
  /** The columns of dimensions all of whose values are kept: hours, weekdays. */
  readonly natural: readonly string[];
  /** How many groups keep their name; Infinity for all. */
  readonly top: number;
  /** SQL over cells by which groups are ranked, such as `sum(_rows)`; ties by name. */
  readonly size: string;
  /** What is merged: SQL over cells and its name. */
  readonly merged: readonly { readonly merge: string; readonly as: string }[];
  /** True where the cells have `_unusable` (1 for rows that don't count). */
  readonly unusable: boolean;
}

/**
 * Names the largest groups and merges the others into one, in the scan that made the cells.
 *
 * @returns SQL with a row per bucket and kept group: `_t`, `_place` (1 is the largest group, 0 the
 *   rest), `_highest` (the last place merged into the row), a `_k…` for each ranked dimension (null
 *   for the rest), the natural dimensions, `_unusable`, the merged measures.
 */
export function topGroupsSql(cells: Cells): Sql {
  const { ranked, natural, merged } = cells;
  const time = cells.time ? ["_t"] : [];
  const unusable = cells.unusable ? ["_unusable"] : [];
  const kept = [...time, ...natural, ...unusable];
  const measures = merged.map(({ merge, as }): [string, Sql] => [as, raw(merge)]);
  const same = (names: readonly string[]) => names.map((name): [string, Sql] => [name, raw(name)]);
  if (ranked.length === 0) {
    return select({
      columns: [...same(kept), ["_place", raw("1")], ["_highest", raw("1")], ...measures],
      from: nested(cells.sql),
      groupBy: kept,
      // Without a key an aggregate over nothing is a row all the same.
      ...(kept.length === 0 ? { having: [raw("count() > 0")] } : { orderBy: kept.map(raw) }),
    });
  }
  const names = join(ranked.map(raw));
  const sized = select({
    columns: [
      ["*", raw("*")],
      ["_size", sql`${raw(cells.size)} OVER (PARTITION BY ${names})`],
    ],
    from: nested(cells.sql),
  });
  const placed = select({
    columns: [
      ["*", raw("*")],
      ["_rank", sql`dense_rank() OVER (ORDER BY _size DESC, ${names})`],
    ],
    from: nested(sized),
  });
  const within = Number.isFinite(cells.top)
    ? sql`_rank <= ${bind("top", "UInt64", cells.top)}`
    : raw("true");
  const labels = ranked.map((name) => `_k${name.slice(2)}`);
  return select({
    columns: [
      ...same(kept),
      ["_place", sql`toUInt64(if(${within}, _rank, 0))`],
      ["_highest", raw("max(_rank)")],
      ...ranked.map((name, index): [string, Sql] => [
        labels[index] as string,
        raw(`if(_place = 0, NULL, ${name})`),
      ]),
      ...measures,
    ],
    from: nested(placed),
    groupBy: [...kept, "_place", ...labels],
    orderBy: [...kept, "_place = 0", "_place"].map(raw),
  });
}
