import { bucketSql } from "../database/bucket-sql.js";
import { buckets, type Bucket } from "../time/bucket.js";
import type { TimeRange } from "../time/time-range.js";
import type { AskedDimension } from "./dimension.js";
import { ROWS, type Plan } from "./plan.js";
import { rowsSql } from "./source.js";
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
  type Sql,
} from "./sql.js";

function same(name: string): Column {
  return [name, raw(name)];
}

/** More steps of time than these are not counted into an array for each group and thread. */
const MOST_STEPS = 256;
/** The same where there is one group alone. */
const MOST_STEPS_ALONE = 8_192;
/** 2100: seconds of a DateTime end soon after. */
const MOST_SECONDS = 4_102_444_800;

/**
 * Counts into an array of even steps for each group (`countResample`), which takes a half to a third
 * of the processor time of a key of two parts. A bucket is made of whole steps in every zone: the step is what all
 * distances between starts are multiples of. The starts themselves are told by `bucketSql`.
 *
 * @returns null where something else than counts is asked, where steps would be too many, or where
 *   a group's array would be repeated for too many groups.
 */
function countedEvenly(
  { source, aggregates }: Plan,
  dimensions: readonly AskedDimension[],
  every: Bucket,
  range: TimeRange,
): ((keys: readonly Column[], out: readonly Column[]) => Sql) | null {
  if (source.weight !== undefined || source.many !== "measurements") return null;
  if (aggregates.some(({ counted }) => counted === undefined)) return null;
  if (
    dimensions.some(({ few }) => !few) ||
    dimensions.filter((dimension) => !dimension.natural).length > 1
  ) {
    return null;
  }
  const starts = buckets(range, every).map(({ start }) => +start / 1000);
  const first = starts[0]!;
  const end = Math.ceil(+range.end / 1000);
  const step = starts.slice(1).reduce((all, start, at) => greatest(all, start - starts[at]!), 0);
  const steps = step === 0 ? 1 : Math.ceil((end - first) / step);
  const groups = dimensions.reduce((all, { natural, most }) => (natural ? all * most : all), 1);
  const few = dimensions.length === 0 ? steps <= MOST_STEPS_ALONE : steps * groups <= MOST_STEPS;
  if (!few || first < 0 || end > MOST_SECONDS || !starts.every(Number.isInteger)) return null;
  const width = step === 0 ? end - first : step;
  const into = raw(`Resample(${first}, ${first + steps * width}, ${width})`);
  const second = raw(`toUnixTimestamp(${source.instant})`);
  const counts: Column[] = [
    [ROWS, sql`count${into}(${second})`],
    ...aggregates.map(({ as, counted }): Column => [
      as,
      sql`countIf${into}(${counted ?? raw("true")}, ${second})`,
    ]),
  ];
  const began = `toDateTime64(${first} + (_step - 1) * ${width}, 3, 'UTC')`;
  return (keys, out) =>
    select({
      columns: [
        ["_t", raw(bucketSql(began, every, range))],
        ...out,
        ...counts.map(([name]): Column => same(name)),
      ],
      from: sql`${nested(
        select({
          columns: [...keys, ...counts],
          from: source.from(),
          groupBy: keys.map(([name]) => name),
        }),
      )}\nARRAY JOIN arrayEnumerate(${raw(ROWS)}) AS _step, ${join(counts.map(([name]) => raw(name)))}\nWHERE ${raw(ROWS)} > 0`,
    });
}

function greatest(a: number, b: number): number {
  return b === 0 ? a : greatest(b, a % b);
}

/**
 * A question as SQL of one scan: cells (a row per bucket and group), of which the largest groups keep
 * their name and the others are merged into one.
 *
 * @param apart true gives quantiles as their numbers (`_q0v`) and how often each occurs (`_q0n`).
 * @param top how many groups keep their name, the largest first, ties by name; Infinity for all.
 * @returns SQL with a row per bucket and kept group: `_t` (the bucket's start), `_place` (1 is the
 *   largest group, 0 the rest), `_highest` (the last place merged into the row), a `_k…` for each
 *   ranked dimension (null for the rest), a `_d…` for each natural one, whose values are all kept,
 *   `_unusable` (1 for rows that don't count) where the source has such, and the aggregates.
 */
export function questionSql(
  plan: Plan,
  dimensions: readonly AskedDimension[],
  question: { every: Bucket | null; range: TimeRange; top: number; apart?: boolean },
): PrintedSql {
  const { every, range, top, apart = false } = question;
  const { source, aggregates } = plan;
  const time = every && bucketSql(source.instant, every, range);
  const texts = dimensions.map(({ text }, at): Column => [`_d${at}`, text(raw(`_g${at}`))]);
  const others: Column[] = [
    ...dimensions.map(({ key }, at): Column => [`_g${at}`, key]),
    ...(source.unusable === undefined ? [] : [["_unusable", source.unusable] as const]),
  ];
  const unusable = source.unusable === undefined ? [] : ["_unusable"];
  const keys = [
    ...(time === null ? [] : ["_t"]),
    ...dimensions.map((_, at) => `_d${at}`),
    ...unusable,
  ];
  const values = [ROWS, ...aggregates.map(({ as }) => as)];
  const even = every && countedEvenly(plan, dimensions, every, range);
  const cells =
    even !== null
      ? nested(even(others, [...texts, ...unusable.map(same)]))
      : nested(
          select({
            columns: [
              ...(time === null ? [] : [same("_t")]),
              ...texts,
              ...[...unusable, ...values].map(same),
            ],
            from: nested(
              select({
                columns: [
                  ...(time === null ? [] : [["_t", raw(time)] as const]),
                  ...others,
                  [ROWS, rowsSql(source)],
                  ...aggregates.map(({ as, cell, spread }): Column => [
                    as,
                    apart && spread ? spread.cell : cell,
                  ]),
                ],
                from: source.from(),
                ...(keys.length > 0
                  ? { groupBy: [...(time === null ? [] : ["_t"]), ...others.map(([name]) => name)] }
                  : { having: [raw(`${ROWS} > 0`)] }),
              }),
            ),
          }),
        );
  const ranked = dimensions.flatMap(({ natural }, index) => (natural ? [] : [index]));
  const isRanked = (name: string) => ranked.some((index) => name === `_d${index}`);
  const kept = keys.filter((name) => !isRanked(name));
  const merged = [{ as: ROWS, merge: `sum(${ROWS})`, spread: undefined }, ...aggregates].flatMap(
    ({ as, merge, spread }): Column[] =>
      apart && spread
        ? [
            [`${as}v`, raw(`sumMap(${as}).1`)],
            [`${as}n`, raw(`sumMap(${as}).2`)],
          ]
        : [[as, raw(merge)]],
  );
  if (ranked.length === 0) {
    return print(
      select({
        columns: [...kept.map(same), ["_place", raw("1")], ["_highest", raw("1")], ...merged],
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
        ...kept.map(same),
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
