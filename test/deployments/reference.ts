import type { Deployment } from "./deployment.js";
import type { Measured } from "./rows.js";
import type { Held } from "./tables.js";

/** The measurements as a table's questions count them: merged where its engine merges, else each row. */
export function countedRows(one: Deployment, held: readonly Held[]): Measured[] {
  const rows = held.map(({ row }) => row);
  return /^(Replacing|Collapsing)/.test(one.engine) ? [...new Set(rows)] : rows;
}

/** What `duplicates` tells: rows of one measurement by uid, or equal in every column. */
export function duplicatesOf(one: Deployment, held: readonly Held[], start: number, end: number) {
  const inside = held.filter(
    ({ row: { micros } }) => micros !== null && micros >= start && micros < end,
  );
  const groups = new Map<string, number>();
  for (const { row, sign } of inside) {
    const key = one.optional === "all" ? row.uid : `${row.seq} ${sign}`;
    groups.set(key, (groups.get(key) ?? 0) + 1);
  }
  const measurements = groups.size;
  return {
    measurements,
    rows: inside.length,
    duplicated: [...groups.values()].filter((n) => n > 1).length,
    share: (inside.length - measurements) / inside.length,
  };
}
