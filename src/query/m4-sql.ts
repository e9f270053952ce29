import type { TimeRange } from "../time/time-range.js";
import { cellsSql } from "./question-sql.js";
import { bind, nested, raw, select, sql, type Column, type Sql } from "./sql.js";

/** The line that M4 is asked of. */
export interface M4Line {
  readonly source: {
    /** The text after FROM for a range, and when a row was, a DateTime or DateTime64. */
    readonly from: (range: TimeRange) => Sql;
    readonly instant: string;
  };
  /** The numbers, and whether some may be null, NaN or infinite: a gap in the line. */
  readonly y: Sql;
  readonly gaps: boolean;
  /** The series of a row; one series without it. */
  readonly series?: Sql | undefined;
  readonly range: TimeRange;
  /** Pixel columns, 1 to 30,000. */
  readonly width: number;
}

/**
 * M4 in ClickHouse, in one scan: the rows (series, t, y) that `m4` keeps of the same data in the order
 * of time (µs) and y, those without a finite y last among equal times; equal rows once.
 *
 * The answer has the columns `series` (where asked for), `t` as DateTime64(6) and `y` as
 * Nullable(Float64), null in a gap; at most 4 rows a column and series, 6 where y has gaps. It is
 * ordered by series and time.
 *
 * Each is the minimum or maximum of one UInt128, the bits of y and time side by side in an order that
 * unsigned integers have too: ties go to the earliest time on any number of threads and shards.
 */
export function m4Sql({ source, y, gaps, series, range, width }: M4Line): Sql {
  const by: Column[] = series === undefined ? [] : [["series", series]];
  const names = by.map(([name]) => name);
  const keys = names.map((name): Column => [name, raw(name)]);
  const from = () =>
    nested(
      select({
        columns: [
          ...by,
          ["_x", raw(`toUInt64(toUnixTimestamp64Micro(toDateTime64(${source.instant}, 6)))`)],
          ["_v", sql`ifNull(toFloat64(${y}), nan)`],
          ["_y", ORDERED],
        ],
        from: source.from(range),
      }),
    );
  const [first, last, lowest, highest] = ["_first", "_last", "_lowest", "_highest"] as const;
  const extreme = (as: string, merge: "min" | "max", high: string, low: string) => {
    const cell = raw(`${merge}(bitShiftLeft(toUInt128(${high}), 64) + ${low})`);
    return { as, cell, merge };
  };
  const aggregates = [
    extreme(first, "min", "_x", "_y"),
    extreme(last, "max", "_x", "_y"),
    extreme(lowest, "min", "_y", "_x"),
    extreme(highest, "max", "_y", "bitNot(_x)"),
  ];
  const start = bind("m4_start", "Int64", +range.start * 1000);
  const scale = bind("m4_scale", "Float64", width / (+range.end - +range.start));
  // In the order of operations of `pixelColumn`, so that the two round alike.
  const column = sql`greatest(0, least(floor((_x - ${start}) / 1000 * ${scale}), ${raw(String(width))}))`;
  // 16 bits, so that the engine finds a group by its number and needs no hash.
  const key = sql`toUInt16(${gaps ? sql`2 * ${column} + NOT isFinite(_v)` : column})`;
  const cells = nested(cellsSql({ source: { from }, aggregates }, range, [...keys, ["_k", key]]));
  const corners = (of: (name: string) => string) =>
    `arrayDistinct([${row(of(first))}, (${low(of(lowest))}, ${high(of(lowest))}, 0), (bitNot(${low(of(highest))}), ${high(of(highest))}, 0), ${row(of(last))}])`;
  const drawn = (name: string) => `anyIf(${name}, _k % 2 = 0)`;
  const gap = (name: string) => high(`anyIf(${name}, _k % 2 = 1)`);
  const [anyDrawn, anyGap] = [0, 1].map((odd) => `countIf(_k % 2 = ${odd}) > 0`) as [
    string,
    string,
  ];
  // A gap before the first, after the last, or instead of all.
  const withGaps = `arrayConcat(if(${anyDrawn}, ${corners(drawn)}, []),
    if(${anyGap} AND (NOT (${anyDrawn}) OR ${gap(first)} < ${high(drawn(first))}), [(${gap(first)}, 0, 1)], []),
    if(${anyGap} AND ${anyDrawn} AND ${gap(last)} >= ${high(drawn(last))}, [(${gap(last)}, 0, 1)], []))`;
  const rows = select({
    columns: [...keys, ["_row", raw(`arrayJoin(${gaps ? withGaps : corners((name) => name)})`)]],
    from: cells,
    ...(gaps && { groupBy: [...names, raw("intDiv(_k, 2)")] }),
  });
  return select({
    columns: [
      ...keys,
      ["t", raw("fromUnixTimestamp64Micro(toInt64(_row.1), 'UTC')")],
      ["y", raw(`if(_row.3, NULL, ${UNORDERED})`)],
    ],
    from: nested(rows),
    orderBy: [...names, "_row.1", "_row.3", "_row.2"].map(raw),
  });
}

const SIGN = "9223372036854775808";
const BITS = "reinterpretAsUInt64(_v + 0.)";
/** A Float64 as a UInt64 in the same order (−0 as 0): all bits of a negative number flipped, the sign of any other. */
const ORDERED = raw(`bitXor(${BITS}, bitOr(toUInt64(-bitShiftRight(${BITS}, 63)), ${SIGN}))`);
const UNORDERED = `reinterpretAsFloat64(if(_row.2 >= ${SIGN}, bitXor(_row.2, ${SIGN}), bitNot(_row.2)))`;

const high = (bits: string): string => `toUInt64(bitShiftRight(${bits}, 64))`;
const low = (bits: string): string => `toUInt64(bitAnd(${bits}, toUInt128(18446744073709551615)))`;
/** Time, y, and that it is no gap. */
const row = (bits: string): string => `(${high(bits)}, ${low(bits)}, 0)`;
