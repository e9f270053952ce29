import type { TimeRange } from "../time/time-range.js";
import type { AskedBuckets } from "./asked-buckets.js";
import type { AskedDimension } from "./dimension.js";
import { ROWS, type Aggregate, type Plan } from "./plan.js";
import type { Rows } from "./source.js";
import {
  bind,
  nested,
  print,
  raw,
  select,
  sql,
  type Column,
  type PrintedSql,
  type Sql,
} from "./sql.js";

function same(name: string): Column {
  return [name, raw(name)];
}

/**
 * The one scan of every question: a row for each combination of the keys (and `_unusable`, where the
 * source has rows that don't count), with its number of rows and the plan's aggregates.
 *
 * @param apart true gives quantiles as how often each number occurs, which merges anywhere.
 */
export function cellsSql(
  { source, aggregates }: { readonly source: Rows; readonly aggregates: readonly Aggregate[] },
  range: TimeRange,
  keys: readonly Column[],
  apart = false,
): Sql {
  const all = [...keys, ...unusable(source)];
  const values = aggregates.map(({ as, cell, spread }): Column => [
    as,
    apart && spread ? spread.cell : cell,
  ]);
  return select({
    columns: [...all, ...values],
    from: source.from(range),
    // Without a key an aggregate over nothing is a row all the same.
    ...(all.length > 0 ? { groupBy: all.map(([name]) => name) } : { having: [raw(`${ROWS} > 0`)] }),
  });
}

/** The key of rows that don't count, where the source has such. */
export function unusable(source: Rows): Column[] {
  return source.unusable === undefined ? [] : [["_unusable", source.unusable]];
}

/**
 * A question as SQL of one scan: cells (a row per bucket and combination of values), of which each
 * dimension's largest values keep their name and its others are merged, so that sums over any
 * dimension stay what they are.
 *
 * @param apart true gives quantiles as their numbers (`_q0v`) and how often each occurs (`_q0n`).
 * @param top how many values of each dimension keep their name, the largest first, ties by name;
 *   Infinity for all.
 * @returns SQL with a row per bucket and combination of kept values: `_t` (the bucket's start), for
 *   each ranked dimension `_p…` (its value's place: 1 is the largest, 0 all that are merged), `_h…`
 *   (the last place in the row) and `_k…` (the value, null for the merged ones), a `_d…` for each
 *   natural one, whose values are all kept, `_unusable` (1 for rows that don't count) where the source
 *   has such, and the aggregates.
 */
export function questionSql(
  plan: Plan,
  dimensions: readonly AskedDimension[],
  question: { buckets: AskedBuckets; range: TimeRange; top: number; apart?: boolean },
): PrintedSql {
  const { buckets, range, top, apart = false } = question;
  const { source, aggregates } = plan;
  const start: Column[] = buckets.every ? [["_t", raw(buckets.key(source.instant))]] : [];
  const groups = dimensions.map(({ key }, at): Column => [`_g${at}`, key]);
  const texts = dimensions.map(({ text }, at): Column => [`_d${at}`, text(raw(`_g${at}`))]);
  const cells = (): Sql => {
    const read = [...unusable(source).map(([name]) => name), ...aggregates.map(({ as }) => as)];
    return select({
      columns: [
        ...start.map(([name]): Column => [name, raw(buckets.start(name))]),
        ...texts,
        ...read.map(same),
      ],
      from: nested(cellsSql(plan, range, [...start, ...groups], apart)),
    });
  };
  const merged = aggregates.flatMap(({ as, merge, spread }): Column[] =>
    apart && spread
      ? [1, 2].map((part) => [`${as}${part === 1 ? "v" : "n"}`, raw(`sumMap(${as}).${part}`)])
      : [[as, raw(`${merge}(${as})`)]],
  );
  const ranked = dimensions.flatMap(({ natural }, at) => (natural > 0 ? [] : [at]));
  const kept = [
    ...start.map(([name]) => name),
    ...dimensions.flatMap(({ natural }, at) => (natural > 0 ? [`_d${at}`] : [])),
    ...unusable(source).map(([name]) => name),
  ];
  const size = source.unusable === undefined ? ROWS : `if(_unusable, 0, ${ROWS})`;
  const beside = (from: Sql, column: (at: number) => Column): Sql =>
    ranked.length === 0
      ? from
      : select({ columns: [same("*"), ...ranked.map(column)], from: nested(from) });
  const sized = beside(cells(), (at) => [
    `_s${at}`,
    raw(`sum(${size}) OVER (PARTITION BY _d${at})`),
  ]);
  const placed = beside(sized, (at) => [
    `_r${at}`,
    raw(`dense_rank() OVER (ORDER BY _s${at} DESC, _d${at})`),
  ]);
  const places = ranked.map((at): Column => {
    const rank = raw(`_r${at}`);
    const within = sql`if(${rank} <= ${bind("top", "UInt64", top)}, ${rank}, 0)`;
    return [`_p${at}`, sql`toUInt64(${Number.isFinite(top) ? within : rank})`];
  });
  const names = ranked.map((at): Column => [`_k${at}`, raw(`if(_p${at} = 0, NULL, _d${at})`)]);
  const last = ranked.map((at): Column => [`_h${at}`, raw(`max(_r${at})`)]);
  const groupBy = [...kept, ...[...places, ...names].map(([name]) => name)];
  return print(
    select({
      columns: [...kept.map(same), ...places, ...names, ...last, ...merged],
      from: nested(placed),
      groupBy,
      // Without a key an aggregate over nothing is a row all the same.
      ...(groupBy.length === 0
        ? { having: [raw("count() > 0")] }
        : { orderBy: [...kept, ...ranked.flatMap((at) => [`_p${at} = 0`, `_p${at}`])].map(raw) }),
    }),
  );
}
