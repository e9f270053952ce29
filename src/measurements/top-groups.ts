import type { Asked } from "./question.js";

/** A measure over already grouped cells: how cells of the rest are merged into "other". */
export interface CellMeasure {
  /** SQL over the cells, such as `sum(_n)` or `quantilesExactInclusiveMerge(0.5)(_q)`. */
  readonly sql: string;
  readonly as: string;
}

/**
 * Names the largest groups and merges the others into one, in the scan that made the cells.
 *
 * @param cells SQL with a row per bucket and group: `_t` (with `every`), `_d0`, `_d1` …, and what
 *   the measures merge; states of aggregates where plain numbers can't be merged.
 * @param size SQL over cells by which groups are ranked, such as `sum(_n)`; ties by name.
 * @returns SQL with a row per bucket and kept group: `_t`, `_place` (1 is the largest group, 0 the
 *   rest), `_highest` (the last place merged into the row), `_d0` … (null for the rest), measures.
 */
export function topGroupsSql(
  cells: string,
  asked: Pick<Asked, "by" | "every" | "top">,
  size: string,
  measures: readonly CellMeasure[],
): string {
  const dimensions = asked.by.map((_, index) => `_d${index}`);
  const time = asked.every === null ? [] : ["_t"];
  const made = measures.map(({ sql, as }) => `${sql} AS ${as}`);
  if (dimensions.length === 0) {
    // Without a group an aggregate over nothing is a row all the same.
    const group = time.length > 0 ? "\nGROUP BY _t\nORDER BY _t" : "\nHAVING count() > 0";
    return `SELECT ${[...time, "1 AS _place", "1 AS _highest", ...made].join(", ")}\nFROM (\n${indent(cells)}\n)${group}`;
  }
  const limit = Number.isFinite(asked.top) ? "_rank <= {top:UInt64}" : "true";
  const names = dimensions.join(", ");
  const kept = dimensions.map((name) => `if(_place = 0, NULL, ${name}) AS _k${name.slice(2)}`);
  const keys = [...time, "_place", ...dimensions.map((name) => `_k${name.slice(2)}`)];
  return `SELECT ${[...time, `toUInt64(if(${limit}, _rank, 0)) AS _place`, "max(_rank) AS _highest", ...kept, ...made].join(", ")}
FROM (
  SELECT *, dense_rank() OVER (ORDER BY _size DESC, ${names}) AS _rank
  FROM (
    SELECT *, ${size} OVER (PARTITION BY ${names}) AS _size
    FROM (
${indent(indent(indent(cells)))}
    )
  )
)
GROUP BY ${keys.join(", ")}
ORDER BY ${[...time, "_place = 0", "_place"].join(", ")}`;
}

/** Two spaces before every line. */
export function indent(text: string): string {
  return text.replace(/^/gm, "  ");
}
