import { ProbelabError } from "../base/error.js";
import type { MeasureColumn } from "../result/origin.js";
import type { Value } from "../result/result.js";
import { KINDS, quantileLabel, type Measure } from "./measure.js";
import type { Source, SourceColumn } from "./source.js";
import { and, print, raw, sql, type Sql } from "./sql.js";
import { columnKind, whereSql, whereText } from "./where.js";
import { wilson } from "./wilson.js";

/** A row of the server's answer. */
export type AnswerRow = Readonly<Record<string, Value>>;

/** A measure of a question, planned. */
export interface PlannedMeasure extends MeasureColumn {
  /** Its value in a row of the answer; `minutes` are those of the row's bucket. */
  readonly value: (row: AnswerRow, minutes: number) => number | Date | null;
  /** Two values of one group whose buckets fall together; missing where they can't be merged. */
  readonly add?: (a: number | Date | null, b: number | Date | null) => number | Date | null;
}

/** An aggregate over the rows of a cell (a bucket and group), and how cells merge. */
interface Aggregate {
  readonly as: string;
  readonly cell: Sql;
  /** Over the cells' column. */
  readonly merge: string;
}

/** How many rows a cell holds. */
export const ROWS = "_rows";

/**
 * The aggregates that measures need: each asked once, however many measures are made of it, and
 * each such that cells merge exactly: what holds for "other" holds for windows and shards.
 */
export class Plan {
  readonly #source: Source;
  readonly #aggregates = new Map<string, Aggregate>();
  readonly #quantiles = new Map<
    string,
    { as: string; over: string; cell: Sql; levels: number[] }
  >();

  constructor(source: Source) {
    this.#source = source;
  }

  /** The aggregates of all measures planned so far. */
  get aggregates(): readonly Aggregate[] {
    const quantiles = [...this.#quantiles.values()].map(({ as, over, cell, levels }) => ({
      as,
      cell: sql`quantilesExactInclusiveState${raw(over)}(${raw(levels.join(", "))})${cell}`,
      merge: `quantilesExactInclusiveMerge(${levels.join(", ")})(${as})`,
    }));
    return [...this.#aggregates.values(), ...quantiles];
  }

  /** Plans a measure. @throws ProbelabError for an unknown column or one of another type. */
  add(name: string, measure: Measure<unknown>, main: boolean): PlannedMeasure {
    const made = this.#made(measure);
    const { additive, missing } = this.#kind(measure);
    return {
      name,
      label: measure.label ?? made.label,
      unit: measure.unit ?? made.unit,
      additive,
      missing,
      ...(main && { main }),
      value: made.value,
      ...(made.add && { add: made.add }),
    };
  }

  #kind(measure: Measure<unknown>): (typeof KINDS)[keyof typeof KINDS] {
    const { measure: kind } = (measure ?? {}) as { measure?: unknown };
    if (typeof kind === "string" && Object.hasOwn(KINDS, kind)) return KINDS[kind as "count"];
    throw new ProbelabError(
      `Can't measure ${JSON.stringify(measure) ?? "undefined"}: pass one of ${Object.keys(KINDS).join(", ")}, such as measures: { measurements: count() }.`,
    );
  }

  #made(measure: Measure<unknown>): Pick<PlannedMeasure, "label" | "unit" | "value" | "add"> {
    this.#kind(measure);
    const { many } = this.#source;
    const only = whereSql(measure.where, (name) => this.#source.column(name), "only");
    const If = only.length === 0 ? "" : "If";
    const condition = only.length === 0 ? raw("") : sql`, ${and(only)}`;
    const about = measure.where === undefined ? "" : ` (${whereText(measure.where)})`;
    const column = measure.column ?? "";
    switch (measure.measure) {
      case "count": {
        const as =
          only.length === 0
            ? ROWS
            : this.#aggregate(sql`countIf(${and(only)})`, (a) => `sum(${a})`);
        return { label: `${capital(many)}${about}`, unit: many, value: number(as), add };
      }
      case "sum": {
        const { sql: value, ...found } = this.#number(column, "sum");
        const as = this.#aggregate(sql`sum${raw(If)}(${value}${condition})`, (a) => `sum(${a})`);
        const label = `${found.label ?? column}, sum${about}`;
        return { label, unit: found.unit ?? "", value: (row) => Number(row[as] ?? 0), add };
      }
      case "mean": {
        const { sql: value, ...found } = this.#number(column, "average");
        const total = this.#aggregate(
          sql`sum${raw(If)}(toFloat64(${value})${condition})`,
          (a) => `sum(${a})`,
        );
        const n = this.#aggregate(sql`count${raw(If)}(${value}${condition})`, (a) => `sum(${a})`);
        return {
          label: `${found.label ?? column}, mean${about}`,
          unit: found.unit ?? "",
          value: (row) => quotient(number(total)(row), number(n)(row)),
        };
      }
      case "min":
      case "max": {
        const kind = measure.measure;
        const { sql: value, ...found } = this.#number(column, `find the ${kind} of`);
        const as = this.#aggregate(
          sql`${raw(kind)}OrNull${raw(If)}(${value}${condition})`,
          (a) => `${kind}(${a})`,
        );
        const label = `${found.label ?? column}, ${kind}${about}`;
        return { label, unit: found.unit ?? "", value: known(as) };
      }
      case "distinct": {
        const found = this.#source.column(column);
        const as = this.#aggregate(
          sql`uniqExactState${raw(If)}(${found.sql}${condition})`,
          (a) => `uniqExactMerge(${a})`,
        );
        return {
          label: `Different ${found.label ?? column}${about}`,
          unit: "different values",
          value: number(as),
        };
      }
      case "quantile": {
        const { sql: value, ...found } = this.#number(column, "give quantiles of");
        const level = measure.level ?? NaN;
        if (!(level >= 0 && level <= 1)) {
          throw new ProbelabError(
            `Can't give the quantile ${String(measure.level)} of ${column}: pass a number from 0 to 1.`,
          );
        }
        const cell = sql`(${value}${condition})`;
        const { as, levels } = this.#levels(cell, If);
        if (!levels.includes(level)) levels.push(level);
        return {
          label: `${found.label ?? column}, ${quantileLabel(level)}${about}`,
          unit: found.unit ?? "",
          value(row) {
            const value = (row[as] as ArrayLike<number> | null | undefined)?.[
              levels.indexOf(level)
            ];
            return value === undefined || Number.isNaN(value) ? null : value;
          },
        };
      }
      case "earliest":
      case "latest": {
        const kind = measure.measure === "earliest" ? "min" : "max";
        const instant = raw(`toDateTime64(${this.#source.instant}, 3, 'UTC')`);
        const as = this.#aggregate(
          sql`${raw(kind)}OrNull${raw(If)}(${instant}${condition})`,
          (a) => `${kind}(${a})`,
        );
        const label = `${measure.measure === "earliest" ? "First" : "Last"} of the ${many}${about}`;
        return { label, unit: "", value: (row) => (row[as] as Date | null | undefined) ?? null };
      }
      case "share":
      case "shareLow":
      case "shareHigh":
        return this.#share(measure);
      case "ratio": {
        const [top, bottom] = this.#parts(measure, 2);
        return {
          label: `${top?.label} by ${bottom?.label.toLowerCase()}`,
          unit: `${top?.unit}/${bottom?.unit}`,
          value(row, minutes) {
            const value = quotient(
              Number(top?.value(row, minutes)),
              Number(bottom?.value(row, minutes)),
            );
            return value !== null && measure.complement === true ? 1 - value : value;
          },
        };
      }
      case "perMinute": {
        const [rate] = this.#parts(measure, 1);
        return {
          label: `${rate?.label} per minute`,
          unit: `${rate?.unit}/min`,
          value: (row, minutes) => Number(rate?.value(row, minutes)) / minutes,
        };
      }
    }
  }

  #share(measure: Measure<unknown>): Pick<PlannedMeasure, "label" | "unit" | "value"> {
    const [matching] = measure.of ?? [];
    if (matching?.where === undefined || Object.keys(matching.where).length === 0) {
      throw new ProbelabError(
        'Can\'t tell a share without a condition: pass which rows it is of, such as share({ anomaly: "t" }).',
      );
    }
    const of = { measure: "count", ...(measure.where && { where: measure.where }) } as const;
    const both = { ...matching.where, ...measure.where };
    const overlap = Object.keys(matching.where).find((name) => measure.where?.[name] !== undefined);
    if (overlap !== undefined) {
      throw new ProbelabError(
        `Can't tell the share by ${overlap} of rows chosen by ${overlap} too: name it in one of the two conditions.`,
      );
    }
    const all = this.#made(of).value;
    const some = this.#made({ measure: "count", where: both }).value;
    const interval = (row: AnswerRow) =>
      wilson(Number(some(row, 1)), Number(all(row, 1)), measure.confidence ?? 0.95);
    const text = whereText(matching.where);
    const end = `${100 * (measure.confidence ?? 0.95)} % interval`;
    switch (measure.measure) {
      case "shareLow":
        return {
          label: `Share with ${text}, low end of the ${end}`,
          unit: "share",
          value: (row) => interval(row)?.low ?? null,
        };
      case "shareHigh":
        return {
          label: `Share with ${text}, high end of the ${end}`,
          unit: "share",
          value: (row) => interval(row)?.high ?? null,
        };
      default:
        return {
          label: `Share with ${text}`,
          unit: "share",
          value: (row) => quotient(Number(some(row, 1)), Number(all(row, 1))),
        };
    }
  }

  /** The measures that a measure is made of, all additive. */
  #parts(measure: Measure<unknown>, many: number): ReturnType<Plan["add"]>[] {
    const parts = measure.of ?? [];
    const wrong = parts.find((part) => !this.#kind(part).additive);
    if (parts.length !== many || wrong !== undefined) {
      throw new ProbelabError(
        `Can't make a ${measure.measure} of ${wrong?.measure ?? `${parts.length} measures`}: pass count() or sum(column), which add up.`,
      );
    }
    return parts.map((part) => this.add("", part, false));
  }

  #number(column: string, action: string): SourceColumn {
    const found = this.#source.column(column);
    if (columnKind(found.type) !== "number") {
      throw new ProbelabError(
        `Can't ${action} ${column}, a ${found.type}: pass a column of numbers, or count with count() or distinct(${JSON.stringify(column)}).`,
      );
    }
    // NaN and infinities are what a division by zero left: one of them would be the whole sum.
    return /Float/.test(found.type) && found.finite !== true
      ? { ...found, sql: sql`if(isFinite(${found.sql}), ${found.sql}, NULL)` }
      : found;
  }

  #aggregate(cell: Sql, merge: (as: string) => string): string {
    const key = JSON.stringify(print(cell));
    const before = this.#aggregates.get(key);
    if (before !== undefined) return before.as;
    const as = `_a${this.#aggregates.size}`;
    this.#aggregates.set(key, { as, cell, merge: merge(as) });
    return as;
  }

  #levels(cell: Sql, over: string): { as: string; levels: number[] } {
    const key = JSON.stringify(print(cell));
    const before = this.#quantiles.get(key);
    if (before !== undefined) return before;
    const made = { as: `_q${this.#quantiles.size}`, over, cell, levels: [] };
    this.#quantiles.set(key, made);
    return made;
  }
}

const number = (as: string) => (row: AnswerRow) => Number(row[as]);
const known = (as: string) => (row: AnswerRow) =>
  row[as] === null || row[as] === undefined ? null : Number(row[as]);

function add(a: number | Date | null, b: number | Date | null): number | null {
  return Number(a ?? 0) + Number(b ?? 0);
}

function quotient(a: number, b: number): number | null {
  return b === 0 ? null : a / b;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
