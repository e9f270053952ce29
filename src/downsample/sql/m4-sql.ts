import { ProbelabError } from "../../base/error.js";
import { pixelAxis } from "../m4.js";

/** SQL with the values that are bound to its `{name:Type}` placeholders. */
export interface BoundSql {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, number | string>>;
}

/** What M4 is made of, as ClickHouse SQL. Expressions are the caller's own text: no values in them. */
export interface M4Source {
  /** A table, or a subquery in brackets. */
  readonly from: string;
  /** Condition that bounds x to the axis (by the sort key) and whatever else; its own parameters are the caller's. */
  readonly where?: string;
  /** Expression of x and its ClickHouse type: Date, DateTime or DateTime64; not null. */
  readonly x: { readonly sql: string; readonly type: string };
  /** Expression of y and its type: an integer or a float, or Nullable of it. */
  readonly y: { readonly sql: string; readonly type: string };
  /** Expression of the series; one series without it. */
  readonly series?: string;
  /** First and last x of the axis: Dates, or milliseconds since 1970. */
  readonly start: Date | number;
  readonly end: Date | number;
  /** Pixel columns, 1 to 30,000. */
  readonly width: number;
}

/**
 * M4 in ClickHouse, in one scan: the rows (series, x, y) that `m4` keeps of the same
 * data in the order of x and y, those without a finite y last among equal x; equal rows once.
 *
 * The answer has the columns `series` (where asked for), `x` in its own type and `y` as
 * Nullable(Float64), null in a gap; at most 4 rows a column and series, 6 where y has gaps. It is
 * ordered by series and x. Rows whose x lies outside the axis count to its nearest column.
 *
 * Each is the minimum or maximum of one UInt128, the bits of y and x side by side in an order that
 * unsigned integers have too: ties go to the earliest x on any number of threads and shards.
 *
 * @throws ProbelabError when the type of x or y can't be used, or the axis has no columns.
 */
export function m4Sql(source: M4Source): BoundSql {
  const { from, where, width } = source;
  if (!Number.isInteger(width) || width < 1 || width > 30_000) {
    throw new ProbelabError(
      `Can't cut an axis into ${String(width)} pixel columns: pass a whole number from 1 to 30,000.`,
    );
  }
  const ticks = ticksOf(source.x.type);
  const start = Number(source.start) * ticks.perMillisecond;
  const end = Number(source.end) * ticks.perMillisecond;
  const { scale } = pixelAxis(start, end, width);
  const gaps = canBeGap(source.y.type);
  const series = source.series === undefined ? "" : `(${source.series}) AS m4_series, `;
  const by = source.series === undefined ? "" : "m4_series, ";
  const column = `greatest(0, least(floor((m4_t - {m4_start:Int64}) * {m4_scale:Float64}), ${width}))`;
  const nullable = source.y.type.startsWith("Nullable(");
  const gap = nullable ? "NOT ifNull(isFinite(m4_v), 0)" : "NOT isFinite(m4_v)";
  // 16 bits, so that the engine finds a group by its number and needs no hash.
  const key = `toUInt16(${gaps ? `2 * ${column} + (${gap})` : column})`;
  const scan = `SELECT ${by}${key} AS m4_k,
    min(bitShiftLeft(toUInt128(m4_x), 64) + m4_y) AS m4_first,
    max(bitShiftLeft(toUInt128(m4_x), 64) + m4_y) AS m4_last,
    min(bitShiftLeft(toUInt128(m4_y), 64) + m4_x) AS m4_low,
    max(bitShiftLeft(toUInt128(m4_y), 64) + bitNot(m4_x)) AS m4_high
  FROM (
    SELECT ${series}${ticks.read(source.x.sql)} AS m4_t, ${source.y.sql} AS m4_v,
      bitXor(reinterpretAsUInt64(m4_t), ${SIGN}) AS m4_x, ${orderedFloat(nullable ? "ifNull(toFloat64(m4_v), nan)" : "toFloat64(m4_v)")} AS m4_y
    FROM ${from}${where === undefined ? "" : `\n    WHERE (${where})`}
  )
  GROUP BY ${by}m4_k`;
  const sql = `SELECT ${by === "" ? "" : "m4_series AS series, "}${ticks.write(`reinterpretAsInt64(bitXor(m4_row.1, ${SIGN}))`)} AS x, if(m4_row.3, NULL, ${readFloat("m4_row.2")}) AS y
FROM (
  SELECT ${by}arrayJoin(${gaps ? rowsWithGaps : corners}) AS m4_row
  FROM (
  ${scan}
  )${gaps ? `\n  GROUP BY ${by}intDiv(m4_k, 2)` : ""}
)
ORDER BY ${by}m4_row.1, m4_row.3, m4_row.2`;
  return { sql, parameters: { m4_start: start, m4_scale: scale } };
}

/** How ClickHouse counts times: in whole milliseconds, finer DateTime64 in micro- or nanoseconds. */
interface Ticks {
  readonly perMillisecond: number;
  /** The ticks, an Int64, of an expression of the type. */
  readonly read: (x: string) => string;
  /** The value of the type back from its ticks. */
  readonly write: (ticks: string) => string;
}

function ticksOf(type: string): Ticks {
  const zone = /'([^']*)'/.exec(type)?.[1];
  const inZone = zone === undefined ? "" : `, '${zone}'`;
  if (/^DateTime(\('.*'\))?$/.test(type)) {
    return {
      perMillisecond: 1,
      read: (x) => `toInt64(toUnixTimestamp(${x})) * 1000`,
      write: (ticks) => `toDateTime(intDiv(${ticks}, 1000)${inZone})`,
    };
  }
  if (type === "Date") {
    return {
      perMillisecond: 1,
      read: (x) => `toInt64(toInt32(${x})) * 86400000`,
      write: (ticks) => `toDate32(toInt32(intDiv(${ticks}, 86400000)))`,
    };
  }
  const digits = Number(/^DateTime64\((\d)/.exec(type)?.[1] ?? NaN);
  if (Number.isNaN(digits)) {
    throw new ProbelabError(
      `Can't downsample along a column of type ${type}: take a Date, DateTime or DateTime64 that is not null.`,
    );
  }
  const [unit, shown] = digits <= 3 ? ["Milli", 3] : digits <= 6 ? ["Micro", 6] : ["Nano", 9];
  return {
    perMillisecond: 10 ** (shown - 3),
    read: (x) => `toUnixTimestamp64${unit}(toDateTime64(${x}, ${shown}))`,
    write: (ticks) =>
      `toDateTime64(fromUnixTimestamp64${unit}(${ticks}${inZone}), ${digits}${inZone})`,
  };
}

const SIGN = "9223372036854775808";

/** SQL: a Float64 as a UInt64 in the same order (−0 as 0). */
function orderedFloat(sql: string): string {
  const bits = `reinterpretAsUInt64(${sql} + 0.)`;
  // Flips all bits of a negative number, the sign of any other.
  return `bitXor(${bits}, bitOr(toUInt64(-bitShiftRight(${bits}, 63)), ${SIGN}))`;
}

/** SQL: the Float64 back from `orderedFloat`. */
function readFloat(sql: string): string {
  return `reinterpretAsFloat64(if(${sql} >= ${SIGN}, bitXor(${sql}, ${SIGN}), bitNot(${sql})))`;
}

const high = (bits: string): string => `toUInt64(bitShiftRight(${bits}, 64))`;
const low = (bits: string): string => `toUInt64(bitAnd(${bits}, toUInt128(18446744073709551615)))`;

/** The rows (x, y, is a gap) of a column out of its four aggregates. */
const cornersOf = (first: string, last: string, lowest: string, highest: string): string =>
  `arrayDistinct([(${high(first)}, ${low(first)}, 0), (${low(lowest)}, ${high(lowest)}, 0), (bitNot(${low(highest)}), ${high(highest)}, 0), (${high(last)}, ${low(last)}, 0)])`;

const corners = cornersOf("m4_first", "m4_last", "m4_low", "m4_high");

const drawn = (name: string): string => `anyIf(${name}, m4_k % 2 = 0)`;
const broken = (name: string): string => `anyIf(${name}, m4_k % 2 = 1)`;
const anyDrawn = "countIf(m4_k % 2 = 0) > 0";
const anyBroken = "countIf(m4_k % 2 = 1) > 0";

/** The same with a gap before the first, after the last, or instead of all. */
const rowsWithGaps = `arrayConcat(
    if(${anyDrawn}, ${cornersOf(drawn("m4_first"), drawn("m4_last"), drawn("m4_low"), drawn("m4_high"))}, []),
    if(${anyBroken} AND (NOT (${anyDrawn}) OR ${high(broken("m4_first"))} < ${high(drawn("m4_first"))}), [(${high(broken("m4_first"))}, 0, 1)], []),
    if(${anyBroken} AND ${anyDrawn} AND ${high(broken("m4_last"))} >= ${high(drawn("m4_last"))}, [(${high(broken("m4_last"))}, 0, 1)], []))`;

function canBeGap(type: string): boolean {
  const plain = /^Nullable\((.*)\)$/.exec(type)?.[1] ?? type;
  if (/^(U?Int(8|16|32|64)|Float(32|64)|Decimal\(.*\)|Bool)$/.test(plain)) {
    return plain !== type || plain.startsWith("Float");
  }
  throw new ProbelabError(
    `Can't downsample values of type ${type}: take a column of integers or floats.`,
  );
}
