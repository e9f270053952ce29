import type { ColumnTable } from "arquero";
import { valueKind } from "../database/column-type.js";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { shownValue, textOf } from "../base/text.js";
import type { DimensionColumn, ResultColumns } from "../result/origin.js";
import { columnValues } from "../result/arquero-table.js";
import { compareVersions } from "../result/version-order.js";
import { checkBucket, type Bucket } from "../time/bucket.js";
import { readSpan } from "../time/span.js";
import { bucketNoun, stepOf } from "../time/step.js";
import type { TimeRange } from "../time/time-range.js";
import { AskedBuckets } from "./asked-buckets.js";
import type { Measure } from "./measure.js";
import { MEANINGS } from "./plan.js";

/**
 * The meaning of a column of free SQL: the start of buckets of a span (`"week"`, `"15 minutes"`), a
 * dimension, ordered by the first measure that adds up or as versions (3.9 before 3.10), its value
 * "other" last; or a measure, such as `share()`.
 */
export type ColumnMeaning = Bucket | "dimension" | "version" | Measure<unknown>;

/** What the columns of an answer are said to hold. */
interface Named {
  readonly times: readonly (readonly [name: string, every: Bucket])[];
  readonly dimensions: readonly (readonly [name: string, as: "dimension" | "version"])[];
  readonly measures: readonly (readonly [name: string, measure: Measure<unknown>])[];
}

const SUCH = 'such as { t: "week", software_version: "version", share: share(), n: count() }';

/**
 * Reads what columns of free SQL are said to hold, before any of it runs.
 *
 * @param types ClickHouse's names of the types of the answer's columns.
 * @throws ProbelabError for a column that the answer has not, or whose type doesn't fit.
 */
export function checkNamed(
  columns: Readonly<Record<string, ColumnMeaning>>,
  types: ReadonlyMap<string, string>,
  range: TimeRange,
): Named {
  if (typeof columns !== "object" || columns === null || Array.isArray(columns)) {
    throw new ProbelabError(
      `Can't name columns by ${JSON.stringify(columns)}: pass an object, ${SUCH}.`,
    );
  }
  const times: [string, Bucket][] = [];
  const dimensions: [string, "dimension" | "version"][] = [];
  const measures: [string, Measure<unknown>][] = [];
  for (const [name, meaning] of Object.entries(columns)) {
    const type = types.get(name);
    if (type === undefined) {
      const near = nearName(name, [...types.keys()]);
      throw new ProbelabError(
        `Can't find the named column ${JSON.stringify(name)} in the answer${near === undefined ? "." : `: did you mean ${JSON.stringify(near)}?`} It has ${[...types.keys()].join(", ")}.`,
      );
    }
    const kind = valueKind(type);
    const expect = (fits: boolean, as: string, remedy: string): void => {
      if (!fits) throw unfit(name, `, a ${type},`, `${as}: ${remedy}.`);
    };
    if (meaning === "dimension" || meaning === "version") {
      const plain =
        kind !== "time" && !/^(Array|Tuple|Map|JSON|Object|Variant|Dynamic)\b/.test(type);
      expect(plain, "a dimension", `give a text, such as toString(${name})`);
      const digits = `3.10 and 3.1 are one number; keep it as text, such as aq.fromCSV(text, { parse: { ${name}: String } })`;
      expect(meaning !== "version" || !/Float|Decimal/.test(type), "a version", digits);
      dimensions.push([name, meaning]);
    } else if (isMeasure(meaning)) {
      const { measure, where, of, column } = meaning;
      // A measure only describes what the SQL computed: a condition of its own would do nothing.
      if (where !== undefined || (measure === "share" && of !== undefined)) {
        const remedy = `the SQL says of which; pass ${measure}() without a condition.`;
        throw unfit(name, "", `${measure}() of some rows: ${remedy}`);
      }
      const wanted = column === "time" ? "time" : "number";
      const such = wanted === "number" ? `, such as toFloat64(${name})` : "";
      expect(kind === wanted, `${measure}()`, `it must hold a ${wanted}${such}`);
      measures.push([name, meaning]);
    } else if (readSpan(meaning) !== undefined) {
      const every = checkBucket(meaning);
      const { count, unit } = stepOf(every);
      const start = `toStartOfInterval(measurement_start_time, INTERVAL ${count} ${unit.toUpperCase()}, '${range.timeZone}') AS ${name}`;
      const starts = `the start of ${bucketNoun(every, true)}`;
      expect(kind === "time", starts, `give a time, such as ${start}`);
      times.push([name, every]);
    } else {
      const pass = `pass a span, "dimension", "version" or a measure, ${SUCH}.`;
      throw unfit(name, "", `${shownValue(meaning)}: ${pass}`);
    }
  }
  if (times.length > 1) {
    throw new ProbelabError(
      `Can't take both ${times[0]![0]} and ${times[1]![0]} as buckets of time: name one of them "dimension", or leave it out.`,
    );
  }
  return { times, dimensions, measures };
}

function unfit(name: string, of: string, as: string): ProbelabError {
  return new ProbelabError(`Can't take the column ${JSON.stringify(name)}${of} as ${as}`);
}

function isMeasure(meaning: unknown): meaning is Measure<unknown> {
  if (typeof meaning !== "object" || meaning === null) return false;
  const { measure } = meaning as { measure?: unknown };
  return typeof measure === "string" && Object.hasOwn(MEANINGS, measure);
}

/**
 * The meaning of the named columns of an answer, and the answer with its dimensions as text.
 *
 * @param cut true where the SQL leaves out groups (LIMIT, HAVING): then a missing row is not zero.
 */
export function nameColumns(
  answer: ColumnTable,
  { times, dimensions, measures }: Named,
  range: TimeRange,
  cut: boolean,
): { readonly table: ColumnTable; readonly columns: Omit<ResultColumns, "kinds"> } {
  let table = answer;
  const [time] = times;
  const additive = measures.find(([, { measure }]) => MEANINGS[measure].additive);
  const sizes = additive && columnValues(answer, additive[0]);
  const ordered = dimensions.map(([name, as]): DimensionColumn => {
    const totals = new Map<string | null, number>();
    const values = columnValues(answer, name).map((value, row) => {
      const text = value === null || value === undefined ? null : textOf(value);
      totals.set(text, (totals.get(text) ?? 0) + (Number(sizes?.[row] ?? 0) || 0));
      return text;
    });
    table = table.assign({ [name]: values });
    const rest = totals.delete("other");
    const order = [...totals.keys()].sort((a, b) =>
      as === "version" ? compareVersions(a, b) : totals.get(b)! - totals.get(a)!,
    );
    return rest ? { name, order: [...order, "other"], other: "other" } : { name, order };
  });
  const meant = measures.map(([name, { measure, label = name, unit }]) => {
    const { additive, missing } = MEANINGS[measure];
    const own = unit ?? (measure === "share" ? "share" : "");
    return { name, label, unit: own, additive, missing: cut ? ("gap" as const) : missing };
  });
  return {
    table,
    columns: {
      ...(time && { time: new AskedBuckets(time[1], range).column(time[0])! }),
      dimensions: ordered,
      measures: meant,
    },
  };
}
