import { ProbelabError } from "../../base/error.js";

/** How a type of x is counted. */
export interface Ticks {
  readonly type: "Int64" | "Float64";
  /** Ticks per millisecond for times; 1 for numbers. */
  readonly perUnit: number;
  /** The ticks of an expression of the type. */
  readonly sql: (x: string) => string;
  /** The value of the type back from its ticks. */
  readonly decode: (ticks: string) => string;
}

/**
 * How ClickHouse counts an x: times in whole milliseconds, DateTime64 finer than that in its micro-
 * or nanoseconds.
 *
 * @throws ProbelabError for a type that is no time and no number.
 */
export function ticksOf(type: string): Ticks {
  const zone = /'([^']*)'/.exec(type)?.[1];
  const inZone = zone === undefined ? "" : `, '${zone}'`;
  if (/^DateTime(\('.*'\))?$/.test(type)) {
    return {
      type: "Int64",
      perUnit: 1,
      sql: (x) => `toInt64(toUnixTimestamp(${x})) * 1000`,
      decode: (ticks) => `toDateTime(intDiv(${ticks}, 1000)${inZone})`,
    };
  }
  const digits = /^DateTime64\((\d)/.exec(type)?.[1];
  if (digits !== undefined) {
    const [unit, perUnit, shown] =
      Number(digits) <= 3
        ? (["Milli", 1, 3] as const)
        : Number(digits) <= 6
          ? (["Micro", 1_000, 6] as const)
          : (["Nano", 1_000_000, 9] as const);
    const exact = Number(digits) === shown;
    return {
      type: "Int64",
      perUnit,
      sql: (x) => `toUnixTimestamp64${unit}(${exact ? x : `toDateTime64(${x}, ${shown})`})`,
      decode: (ticks) => {
        const time = `fromUnixTimestamp64${unit}(${ticks}${inZone})`;
        return exact ? time : `toDateTime64(${time}, ${digits}${inZone})`;
      },
    };
  }
  if (type === "Date" || type === "Date32") {
    return {
      type: "Int64",
      perUnit: 1,
      sql: (x) => `toInt64(toInt32(${x})) * 86400000`,
      decode: (ticks) => `toDate32(toInt32(intDiv(${ticks}, 86400000)))`,
    };
  }
  if (/^U?Int(8|16|32|64)$/.test(type)) {
    return { type: "Int64", perUnit: 1, sql: (x) => `toInt64(${x})`, decode: (ticks) => ticks };
  }
  if (/^Float(32|64)$/.test(type)) {
    return { type: "Float64", perUnit: 1, sql: (x) => `toFloat64(${x})`, decode: (ticks) => ticks };
  }
  throw new ProbelabError(
    `Can't downsample along a column of type ${type}: take a time or a number that is not null.`,
  );
}
