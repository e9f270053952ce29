/** A way to write an instant: its column's type, its steps, and the literals of instants and of none. */
export interface TimeType {
  readonly type: string;
  /** Microseconds of the finest step that it tells. */
  readonly step: number;
  /** SQL of an instant (microseconds since 1970, a multiple of `step`). */
  readonly write: (micros: number) => string;
  /** SQL of what stands for no time, or for one that is no measurement's. */
  readonly none: readonly string[];
  /** True where a column of it tells days only. */
  readonly days?: true;
}

const DAY = 86_400_000_000;
const iso = (micros: number) => new Date(Math.floor(micros / 1000)).toISOString();
const quoted = (text: string) => `'${text}'`;

function decimal(micros: number, digits: number): string {
  const whole = String(Math.floor(micros / 1e6));
  const rest = String(micros % 1e6).padStart(6, "0");
  return digits === 0 ? whole : `${whole}.${rest.padEnd(9, "0").slice(0, digits)}`;
}

function dateTime(type: string, digits = 0): TimeType {
  const nullable = type.includes("Nullable") ? ["NULL"] : [];
  return {
    type,
    step: Math.max(1, 10 ** (6 - digits)),
    write: (micros) => decimal(micros, digits),
    none: ["0", ...nullable],
  };
}

function date(type: string): TimeType {
  return {
    type,
    step: DAY,
    write: (micros) => quoted(iso(micros).slice(0, 10)),
    none: ["'1970-01-01'"],
    days: true,
  };
}

/** Numbers; among them one of another unit, where the type can hold it. */
function counted(type: string, perSecond: number, quote = (text: string) => text): TimeType {
  // One row in a hundred may be of another unit.
  const other = perSecond === 1 ? 1_761_000_000_000 : 1_761_000_000;
  const nullable = type.includes("Nullable") ? ["NULL"] : [];
  const text = type.includes("String") ? ["''", "'n/a'", "'176100000x'"] : [];
  return {
    type,
    step: Math.max(1, 1e6 / perSecond),
    write: (micros) => quote(String((BigInt(micros) * BigInt(perSecond)) / 1_000_000n)),
    none: [quote("0"), ...(type === "UInt32" ? [] : [quote(String(other))]), ...nullable, ...text],
  };
}

function float(perSecond: number): TimeType {
  return {
    type: "Float64",
    step: 1000,
    write: (micros) => String((micros / 1e6) * perSecond),
    none: ["0", "nan", "inf", "-1"],
  };
}

/** All ways that the library reads. */
export const TIME_TYPES: readonly TimeType[] = [
  dateTime("DateTime"),
  dateTime("DateTime('Asia/Tokyo')"),
  dateTime("Nullable(DateTime('America/New_York'))"),
  dateTime("LowCardinality(DateTime('UTC'))"),
  dateTime("DateTime64(0)"),
  dateTime("DateTime64(3, 'Europe/Berlin')", 3),
  dateTime("DateTime64(6, 'UTC')", 6),
  dateTime("DateTime64(9)", 9),
  dateTime("Nullable(DateTime64(3))", 3),
  counted("UInt32", 1),
  counted("Int64", 1),
  counted("UInt64", 1e3),
  counted("Int64", 1e6),
  counted("UInt64", 1e9),
  counted("Nullable(Int64)", 1e3),
  float(1),
  float(1e3),
  counted("String", 1, quoted),
  counted("LowCardinality(Nullable(String))", 1e6, quoted),
  date("Date"),
  date("Date32"),
];
