import { ProbelabError } from "../base/error.js";
import {
  asFloat,
  asInstant,
  countRows,
  DISTINCT,
  finiteOrNull,
  occurrences,
  overRows,
  QUANTILES,
} from "./clickhouse.js";
import { columnsPlural, columnTitle } from "../result/column-words.js";
import type { MeasureColumn } from "../result/origin.js";
import type { Value } from "../result/result.js";
import { quantileLabel, type Measure } from "./measure.js";
import type { Source, SourceColumn } from "./source.js";
import { join, print, raw, sql, type Sql } from "./sql.js";
import { columnKind, whereSql, whereText, type Where } from "./where.js";
import { wilson } from "./wilson.js";

/** A row of the server's answer. */
export type AnswerRow = Readonly<Record<string, Value>>;

/** A measure's value in a cell. */
export type CellValue = number | Date | null;

/** A measure of a question, planned. */
export interface PlannedMeasure extends MeasureColumn {
  /** Its value in a row of the answer; `minutes` are those of the row's bucket. */
  readonly value: (row: AnswerRow, minutes: number) => CellValue;
}

/** An aggregate over the rows of a cell (a bucket and group), and how cells merge. */
export interface Aggregate {
  readonly as: string;
  readonly cell: Sql;
  /** The function that merges cells, over their column. */
  readonly merge: string;
  /** Of quantiles: how often each number occurs, a state that can be sent and merged anywhere. */
  readonly spread?: { readonly levels: readonly number[]; readonly cell: Sql };
}

/** Quantiles of one number of the same rows: all their levels are found at once. */
interface Quantiles {
  readonly as: string;
  readonly levels: number[];
  readonly number: Sql;
  readonly conditions: readonly Sql[];
}

/** The number of rows of a cell. */
export const ROWS = "_rows";

type AnyMeasure = Measure<unknown>;
type Made = Pick<PlannedMeasure, "label" | "unit" | "value">;

/** The meaning of a kind of measure. */
interface Meaning {
  /** True if values of buckets and groups add up. */
  readonly additive: boolean;
  /** The meaning of a bucket without rows: nothing happened, or nothing is known. */
  readonly missing: "zero" | "gap";
  /** Plans the aggregates; gives the label, the unit and the value in a row of the answer. */
  readonly make: (measure: AnyMeasure, plan: Plan) => Made;
}

const sums = { additive: true, missing: "zero" } as const;
const zero = { additive: false, missing: "zero" } as const;
const gap = { additive: false, missing: "gap" } as const;

/** All that there is to say of each kind of measure. */
export const MEANINGS: Readonly<Record<AnyMeasure["measure"], Meaning>> = {
  count: { ...sums, make: makeCount },
  sum: { ...sums, make: makeSum },
  countDistinct: { ...zero, make: makeDistinct },
  mean: { ...gap, make: makeMean },
  min: { ...gap, make: makeExtreme },
  max: { ...gap, make: makeExtreme },
  quantile: { ...gap, make: makeQuantile },
  share: { ...gap, make: makeShare },
  ratio: { ...gap, make: makeRatio },
  rate: { ...zero, make: makeRate },
};

/**
 * The aggregates that measures need: each asked once, however many measures are made of it, and
 * each such that cells merge exactly: what holds for "other" holds for windows and shards.
 */
export class Plan {
  readonly source: Source;
  readonly #aggregates = new Map<string, Aggregate>();
  readonly #quantiles = new Map<string, Quantiles>();

  constructor(source: Source) {
    this.source = source;
    const { weight } = source;
    this.#aggregates.set("", { as: ROWS, cell: countRows([], weight), merge: "sum" });
  }

  /** The number of rows, and the aggregates of all measures planned so far. */
  get aggregates(): readonly Aggregate[] {
    const quantiles = [...this.#quantiles.values()].map(({ as, levels, number, conditions }) => {
      const list = levels.join(", ");
      return {
        as,
        cell: overRows(QUANTILES.state, number, conditions, `(${list})`),
        merge: `${QUANTILES.merge}(${list})`,
        spread: { levels, cell: occurrences(number, conditions) },
      };
    });
    return [...this.#aggregates.values(), ...quantiles];
  }

  /** Plans a measure. @throws ProbelabError for an unknown column or one of another type. */
  add(name: string, measure: AnyMeasure, main: boolean): PlannedMeasure {
    const { additive, missing, make } = meaningOf(measure);
    const { label, unit, value } = make(measure, this);
    return {
      name,
      label: measure.label ?? label,
      unit: measure.unit ?? unit,
      additive,
      missing,
      ...(main && { main }),
      ...(additive && { only: onlyOf(measure.where) }),
      value,
    };
  }

  /**
   * Plans the measures of an answer, the ends of an interval behind their share.
   *
   * @param taken names of the answer's other columns.
   * @throws ProbelabError for none, and for a name that is taken.
   */
  addAll(
    measures: Readonly<Record<string, AnyMeasure>>,
    taken: readonly string[],
    { action, main }: { readonly action: string; readonly main?: string },
  ): PlannedMeasure[] {
    const planned = Object.entries(measures ?? {}).flatMap(([name, measure]) => {
      const made = this.add(name, measure, name === main);
      const [low, high] = this.ends(name, measure);
      return low && high
        ? [{ ...made, interval: [low.name, high.name] as const }, low, high]
        : [made];
    });
    const seen = new Set(["__proto__", ...taken]);
    const twice = planned.find(({ name }) => seen.size === seen.add(name).size)?.name;
    if (planned.length > 0 && twice === undefined) return planned;
    throw new ProbelabError(
      twice === undefined
        ? `Can't ${action} without a measure: pass measures: { measurements: count() }, a name for each.`
        : `Can't name a measure ${JSON.stringify(twice)}: ${twice === "t" ? "that is the column of time" : "another column has that name"}. Give it another name.`,
    );
  }

  /** Plans the ends of a share's interval, under the names NAME_low and NAME_high; none for other measures. */
  ends(name: string, measure: AnyMeasure): PlannedMeasure[] {
    const { interval } = measure;
    if (measure.measure !== "share" || interval === undefined) return [];
    const { label, counts } = shareCounts(measure, this);
    return (["low", "high"] as const).map((end) => ({
      name: `${name}_${end}`,
      label: `${measure.label ?? label}, ${end} end of the ${100 * interval} % interval`,
      unit: measure.unit ?? "share",
      ...gap,
      value: (row) => wilson(...counts(row), interval)?.[end] ?? null,
    }));
  }

  /** The name of an aggregate's column in the answer; `merge` is the function that merges cells. */
  aggregate(cell: Sql, merge: string): string {
    const key = JSON.stringify(print(cell));
    const before = this.#aggregates.get(key);
    if (before !== undefined) return before.as;
    const as = `_a${this.#aggregates.size - 1}`;
    this.#aggregates.set(key, { as, cell, merge });
    return as;
  }

  /** The column of an aggregate of a value over the rows that a measure is about. */
  over(measure: AnyMeasure, call: string, value: Sql, merge: string): string {
    return this.aggregate(overRows(call, value, this.only(measure).conditions), merge);
  }

  /** The column of quantiles of a cell, and the place of a level in its list. */
  quantile(level: number, number: Sql, measure: AnyMeasure): { as: string; at: number } {
    const { conditions } = this.only(measure);
    const key = JSON.stringify(print(join([number, ...conditions])));
    const as = `_q${this.#quantiles.size}`;
    const made = this.#quantiles.get(key) ?? { as, levels: [], number, conditions };
    this.#quantiles.set(key, made);
    if (!made.levels.includes(level)) made.levels.push(level);
    return { as: made.as, at: made.levels.indexOf(level) };
  }

  /** The rows that a measure is about, as conditions and in words. */
  only({ where }: AnyMeasure) {
    return {
      conditions: whereSql(where, (name) => this.source.column(name), "only"),
      about: where === undefined ? "" : ` (${whereText(where)})`,
    };
  }

  /** A row's value times its weight. */
  times(number: Sql): Sql {
    const { weight } = this.source;
    return weight === undefined ? number : sql`${number} * ${weight}`;
  }

  /** A column of numbers, those that are none (NaN, infinite) as null, and what they are called. */
  number(column = "", action: string): SourceColumn & { label: string; unit: string } {
    const { label = columnTitle(column), unit = "", ...own } = this.source.column(column);
    const found = { ...own, label, unit };
    if (columnKind(found.type) !== "number") {
      throw new ProbelabError(
        `Can't ${action} ${column}, a ${found.type}: pass a column of numbers, or count with count() or countDistinct(${JSON.stringify(column)}).`,
      );
    }
    // Arrow carries these as bytes, and the server's quantiles don't know them.
    if (/Int(128|256)|BFloat/.test(found.type)) {
      return { ...found, sql: asFloat(found.sql) };
    }
    // NaN and infinities are what a division by zero left: one of them would be the whole sum.
    return /Float/.test(found.type) && found.finite !== true
      ? { ...found, sql: finiteOrNull(found.sql) }
      : found;
  }
}

/** What a filter lets through as values of columns. */
function onlyOf(where: Where | undefined): Readonly<Record<string, readonly Value[]>> {
  const lists = Object.entries(where ?? {}).map(([name, match]) => [name, [match].flat()] as const);
  const plain = lists.filter(([, values]) => values.every((value) => Object(value) !== value));
  return Object.fromEntries(plain);
}

/** @throws ProbelabError for what is no measure. */
function meaningOf(measure: AnyMeasure): Meaning {
  const { measure: kind } = (measure ?? {}) as { measure?: unknown };
  if (typeof kind === "string" && Object.hasOwn(MEANINGS, kind)) return MEANINGS[kind as "count"];
  throw new ProbelabError(
    `Can't measure ${JSON.stringify(measure) ?? "undefined"}: pass one of ${Object.keys(MEANINGS).join(", ")}, such as measures: { measurements: count() }.`,
  );
}

function makeCount(measure: AnyMeasure, plan: Plan): Made {
  const { conditions, about } = plan.only(measure);
  const { rowNoun, weight } = plan.source;
  const as = conditions.length === 0 ? ROWS : plan.aggregate(countRows(conditions, weight), "sum");
  return { label: `${capital(rowNoun)}${about}`, unit: rowNoun, value: (row) => Number(row[as]) };
}

function makeSum(measure: AnyMeasure, plan: Plan): Made {
  const { sql: stored, type, label, unit } = plan.number(measure.column, "sum");
  // The server's sums of 64 bits begin again at the end of theirs.
  const number = /Int64/.test(type) ? asFloat(stored) : stored;
  const as = plan.over(measure, "sum", plan.times(number), "sum");
  const { about } = plan.only(measure);
  return { label: `${label}, sum${about}`, unit, value: (row) => Number(row[as] ?? 0) };
}

function makeDistinct(measure: AnyMeasure, plan: Plan): Made {
  const { column = "" } = measure;
  const { sql: value, label = columnsPlural([column]) } = plan.source.column(column);
  const as = plan.over(measure, DISTINCT.state, value, DISTINCT.merge);
  return {
    label: `Distinct ${label}${plan.only(measure).about}`,
    unit: "distinct values",
    value: (row) => Number(row[as]),
  };
}

function makeMean(measure: AnyMeasure, plan: Plan): Made {
  const { sql: number, label, unit } = plan.number(measure.column, "average");
  const { weight } = plan.source;
  const total = plan.over(measure, "sum", plan.times(asFloat(number)), "sum");
  const n =
    weight === undefined
      ? plan.over(measure, "count", number, "sum")
      : plan.over(measure, "sum", sql`if(isNull(${number}), 0, ${weight})`, "sum");
  return {
    label: `${label}, mean${plan.only(measure).about}`,
    unit,
    value: (row) => quotient(Number(row[total]), Number(row[n])),
  };
}

function makeExtreme(measure: AnyMeasure, plan: Plan): Made {
  const { column, measure: kind } = measure;
  const { about } = plan.only(measure);
  if (column === "time") {
    const { rowNoun, instant, span = { first: instant, last: instant } } = plan.source;
    const time = raw(asInstant(kind === "min" ? span.first : span.last));
    const as = plan.over(measure, `${kind}OrNull`, time, kind);
    return {
      label: `${kind === "min" ? "First" : "Last"} of the ${rowNoun}${about}`,
      unit: "",
      value: (row) => (row[as] as Date | null | undefined) ?? null,
    };
  }
  const { sql: number, label, unit } = plan.number(column, `find the ${kind} of`);
  const as = plan.over(measure, `${kind}OrNull`, number, kind);
  return {
    label: `${label}, ${kind}${about}`,
    unit,
    value: ({ [as]: value }) => (value === null || value === undefined ? null : Number(value)),
  };
}

function makeQuantile(measure: AnyMeasure, plan: Plan): Made {
  const { column, level = NaN } = measure;
  const { sql: stored, type, label, unit } = plan.number(column, "give quantiles of");
  if (!(level >= 0 && level <= 1)) {
    throw new ProbelabError(
      `Can't give the quantile ${String(measure.level)} of ${column}: pass a number from 0 to 1.`,
    );
  }
  if (plan.source.weight !== undefined) {
    throw new ProbelabError(
      `Can't give quantiles of ${column}: a row stands for several ${plan.source.rowNoun} here. Ask the table itself.`,
    );
  }
  // The server's quantiles know no decimals.
  const number = type.includes("Decimal") ? asFloat(stored) : stored;
  const { as, at } = plan.quantile(level, number, measure);
  return {
    label: `${label}, ${quantileLabel(level)}${plan.only(measure).about}`,
    unit,
    value(row) {
      const value = (row[as] as ArrayLike<number> | null | undefined)?.[at];
      return value === undefined || Number.isNaN(value) ? null : value;
    },
  };
}

function makeShare(measure: AnyMeasure, plan: Plan): Made {
  const { label, counts } = shareCounts(measure, plan);
  return { label, unit: "share", value: (row) => quotient(...counts(row)) };
}

/** Counts of matching and of all rows, for a share and its interval. */
function shareCounts(measure: AnyMeasure, plan: Plan) {
  const { where, of: [matching] = [] } = measure;
  if (matching?.where === undefined || Object.keys(matching.where).length === 0) {
    throw new ProbelabError(
      'Can\'t give a share without a condition: pass which rows it is of, such as share({ anomaly: "t" }).',
    );
  }
  const overlap = Object.keys(matching.where).find((name) => where?.[name] !== undefined);
  if (overlap !== undefined) {
    throw new ProbelabError(
      `Can't give the share by ${overlap} of rows chosen by ${overlap} too: name it in one of the two conditions.`,
    );
  }
  const all = makeCount({ measure: "count", ...(where && { where }) }, plan).value;
  const some = makeCount({ measure: "count", where: { ...matching.where, ...where } }, plan).value;
  return {
    label: `Share of ${plan.source.rowNoun} with ${whereText(matching.where)}`,
    counts: (row: AnswerRow) => [Number(some(row, 1)), Number(all(row, 1))] as const,
  };
}

function makeRatio(measure: AnyMeasure, plan: Plan): Made {
  const [top, bottom] = additiveParts(measure, plan, 2) as [PlannedMeasure, PlannedMeasure];
  return {
    label: `${top.label} by ${bottom.label.toLowerCase()}`,
    unit: `${top.unit}/${bottom.unit}`,
    value: (row, minutes) =>
      quotient(Number(top.value(row, minutes)), Number(bottom.value(row, minutes))),
  };
}

/** The units of a rate in minutes, and as they are written. */
const RATE_UNITS = {
  second: [1 / 60, "s"],
  minute: [1, "min"],
  hour: [60, "h"],
  day: [1440, "d"],
} as const;

function makeRate(measure: AnyMeasure, plan: Plan): Made {
  const [part] = additiveParts(measure, plan, 1) as [PlannedMeasure];
  const { per } = measure;
  if (per === undefined || !Object.hasOwn(RATE_UNITS, per)) {
    throw new ProbelabError(
      `Can't give a rate by ${JSON.stringify(per) ?? "undefined"}: pass "second", "minute", "hour" or "day", such as rate(count(), "minute").`,
    );
  }
  const [length, symbol] = RATE_UNITS[per];
  return {
    label: `${part.label} per ${per}`,
    unit: `${part.unit}/${symbol}`,
    value: (row, minutes) => (Number(part.value(row, minutes)) * length) / minutes,
  };
}

/** The measures that a measure is made of. */
function additiveParts(measure: AnyMeasure, plan: Plan, size: number): PlannedMeasure[] {
  const parts = measure.of ?? [];
  const wrong = parts.find((part) => !meaningOf(part).additive);
  if (parts.length !== size || wrong !== undefined) {
    throw new ProbelabError(
      `Can't make a ${measure.measure} of ${wrong?.measure ?? `${parts.length} measures`}: pass count() or sum(column), which add up.`,
    );
  }
  return parts.map((part) => plan.add("", part, false));
}

function quotient(a: number, b: number): number | null {
  return b === 0 ? null : a / b;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
