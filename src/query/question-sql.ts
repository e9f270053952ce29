import { bucketSql } from "../database/bucket-sql.js";
import type { Bucket } from "../time/bucket.js";
import type { TimeRange } from "../time/time-range.js";
import type { AskedDimension } from "./dimension.js";
import { ROWS, type Plan } from "./plan.js";
import {
  bind,
  join,
  nested,
  print,
  raw,
  select,
  sql,
  type Column,
  type PrintedSql,
} from "./sql.js";

/**
 * A question as SQL of one scan: cells (a row per bucket and group), of which the largest groups keep
 * their name and the others are merged into one.
 *
 * @param top how many groups keep their name, the largest first, ties by name; Infinity for all.
 * @returns SQL with a row per bucket and kept group: `_t` (the bucket's start), `_place` (1 is the
 *   largest group, 0 the rest), `_highest` (the last place merged into the row), a `_k…` for each
 *   ranked dimension (null for the rest), a `_d…` for each natural one, whose values are all kept,
 *   `_unusable` (1 for rows that don't count) where the source has such, and the aggregates.
 */
export function questionSql(
  plan: Plan,
  dimensions: readonly AskedDimension[],
  { every, range, top }: { every: Bucket | null; range: TimeRange; top: number },
): PrintedSql {
  const { source, aggregates } = plan;
  const time = every && bucketSql(source.instant, every, range);
  const keys: Column[] = [
    ...(time === null ? [] : [["_t", raw(time)] as const]),
    ...dimensions.map(({ sql }, index): Column => [`_d${index}`, sql]),
    ...(source.unusable === undefined ? [] : [["_unusable", source.unusable] as const]),
  ];
  const cells = nested(
    select({
      columns: [
        ...keys,
        [ROWS, raw("count()")],
        ...aggregates.map(({ as, cell }): Column => [as, cell]),
      ],
      from: source.from(),
      ...(keys.length > 0
        ? { groupBy: keys.map(([name]) => name) }
        : { having: [raw(`${ROWS} > 0`)] }),
    }),
  );
  const ranked = dimensions.flatMap(({ natural }, index) => (natural ? [] : [index]));
  const isRanked = (name: string) => ranked.some((index) => name === `_d${index}`);
  const kept = keys.map(([name]) => name).filter((name) => !isRanked(name));
  const same = kept.map((name): Column => [name, raw(name)]);
  const merged = [{ as: ROWS, merge: `sum(${ROWS})` }, ...aggregates].map(
    ({ as, merge }): Column => [as, raw(merge)],
  );
  if (ranked.length === 0) {
    return print(
      select({
        columns: [...same, ["_place", raw("1")], ["_highest", raw("1")], ...merged],
        from: cells,
        groupBy: kept,
        // Without a key an aggregate over nothing is a row all the same.
        ...(kept.length === 0 ? { having: [raw("count() > 0")] } : { orderBy: kept.map(raw) }),
      }),
    );
  }
  const names = join(ranked.map((index) => raw(`_d${index}`)));
  const size = source.unusable === undefined ? ROWS : `if(_unusable, 0, ${ROWS})`;
  const sized = select({
    columns: [
      ["*", raw("*")],
      ["_size", sql`sum(${raw(size)}) OVER (PARTITION BY ${names})`],
    ],
    from: cells,
  });
  const placed = select({
    columns: [
      ["*", raw("*")],
      ["_rank", sql`dense_rank() OVER (ORDER BY _size DESC, ${names})`],
    ],
    from: nested(sized),
  });
  const within = Number.isFinite(top) ? sql`_rank <= ${bind("top", "UInt64", top)}` : raw("true");
  return print(
    select({
      columns: [
        ...same,
        ["_place", sql`toUInt64(if(${within}, _rank, 0))`],
        ["_highest", raw("max(_rank)")],
        ...ranked.map((index): Column => [`_k${index}`, raw(`if(_place = 0, NULL, _d${index})`)]),
        ...merged,
      ],
      from: nested(placed),
      groupBy: [...kept, "_place", ...ranked.map((index) => `_k${index}`)],
      orderBy: [...kept, "_place = 0", "_place"].map(raw),
    }),
  );
}
