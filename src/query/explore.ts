import { ProbelabError } from "../base/error.js";
import { answerOrigin, type Database } from "../database/database.js";
import { bucketSql } from "../database/bucket-sql.js";
import { grouped } from "../base/text.js";
import type { DimensionColumn, MeasureColumn } from "../result/origin.js";
import { Result, type Value } from "../result/result.js";
import type { Bucket } from "../time/bucket.js";
import { checkRange, type TimeRange } from "../time/time-range.js";
import { askedDimensions, type By, type GroupOptions } from "./ask.js";
import { candidates, cut as cutCells, merged, readCells, type Ranked } from "./cut-cells.js";
import { asText, type AskedDimension } from "./dimension.js";
import { incompleteNotes, movedNote, timeColumn } from "./grouped-result.js";
import { count, type Measure } from "./measure.js";
import { Plan, ROWS, type AnswerRow, type PlannedMeasure } from "./plan.js";
import { checkFinest, NOTHING, partOf, rowsSql, type Source } from "./source.js";
import {
  bind,
  join,
  print,
  raw,
  select,
  sql,
  type Column,
  type PrintedSql,
  type Sql,
} from "./sql.js";
import { whereText } from "./where.js";
import { askAdding } from "./windows.js";

/** Options of `explore`; see `lab.measurements.explore`. */
export interface ExploreOptions<
  Name extends string = string,
  B extends By<Name> = By<Name>,
> extends Pick<GroupOptions<Name, B>, "range" | "where" | "signal"> {
  /** One to four dimensions to choose by: columns, `hourOfDay()`, `weekday()`, `versionPart()`, `bins()`. */
  readonly by: B;
  /** `count()`, `sum(column)`, `share(where)` or `ratio(a, b)`, whose parts add up; default `count()`. */
  readonly measure?: Measure<unknown, Name>;
  /** The bucket of time; default "auto": the finest that fits. */
  readonly every?: Bucket | "auto";
}

/** Names of the options above, to find unknown ones. */
export const EXPLORE_OPTIONS = ["range", "by", "where", "measure", "every", "signal"];

const MOST_DIMENSIONS = 4;
/** Values of a dimension that keep their name at most, unless it has few by nature. */
const MOST_VALUES = 10;
/**
 * Cells of a source that add up to it under every choice of values and buckets: fewer than 5,000
 * rows, a row for each bucket and combination of values in which there is anything. The largest
 * values of each dimension keep their name, the rest is "other".
 *
 * Two scans: the first sizes the values of each dimension, the second asks the cells of the largest
 * ones in fine buckets. The cut is then made of those cells, counted and not estimated: values are
 * given up one by one, of the dimension that names the most, until few buckets fit; and with what
 * is named then, the finest buckets that fit are taken.
 */
export async function askExplore(
  database: Database,
  open: (range: TimeRange) => Promise<Source>,
  options: ExploreOptions,
  action: string,
): Promise<Result> {
  const range = checkRange((options as Partial<ExploreOptions> | undefined)?.range, action);
  const { signal } = options;
  const source = await open(range);
  const dimensions = askedDimensions(options.by ?? [], source, range);
  if (dimensions.length === 0 || dimensions.length > MOST_DIMENSIONS) {
    throw new ProbelabError(
      `Can't ${action} by ${dimensions.length} dimensions: pass one to ${MOST_DIMENSIONS}, such as by: ["software_version", "probe_cc", "test_name"].`,
    );
  }
  const plan = new Plan(source);
  const { parts, meanings } = measured(plan, options.measure ?? count(), action, dimensions);
  /** Asks for rows that add up: all at once, or what the server manages. */
  const askAll = (question: (plan: Plan, dimensions: readonly AskedDimension[]) => PrintedSql) => {
    const ask = async (window: TimeRange, only?: readonly Sql[]) => {
      const part = new Plan(partOf(await open(window), only));
      const own = askedDimensions(options.by, part.source, window);
      measured(part, options.measure ?? count(), action, own);
      return database.ask({ ...question(part, own), action, signal });
    };
    const sums = [ROWS, ...plan.aggregates.map(({ as }) => as)];
    return askAdding({ range, source, sums, ask });
  };
  const sized = await askAll(sizesSql);
  const { ranked, unusable } = readSizes(sized.table.objects() as AnswerRow[], dimensions, parts);
  const named = ranked.map((values, at) => {
    const { natural, most } = dimensions[at]!;
    // An "other" of one value would take the row that this value can have.
    const kept = natural ? most : MOST_VALUES;
    return values.length <= kept + 1 ? values.length : kept;
  });
  const fine = candidates(options.every ?? "auto", range, named, action);
  const whole = source.hoursOnly ? fine.filter((every) => every !== "minute") : fine;
  const steps: readonly Bucket[] = whole.length > 0 ? whole : ["hour"];
  if ((options.every ?? "auto") !== "auto") checkFinest(steps[0]!, source);
  const cut = { range, every: steps[0]!, ranked, named };
  const question = cellsSql(plan, dimensions, cut);
  const answer = await askAll((plan, dimensions) => cellsSql(plan, dimensions, cut));
  const cells = readCells(answer.table.objects() as AnswerRow[], named, parts, steps[0]!, range);
  const { kept, every, keys } = cutCells(cells, ranked, named, steps, { range, action });
  const meant = dimensions.map((dimension, at) =>
    dimensionColumn(dimension, ranked[at]!, kept[at]!),
  );
  const columns = meant.map(({ column }) => column);
  const aq = await import("arquero");
  const rows = merged(cells, keys);
  const table: Record<string, Value[]> = { t: rows.map(({ start }) => new Date(start)) };
  meant.forEach(({ text, column }, at) => {
    table[column.name] = rows.map(({ codes }) => text[codes[at]! <= kept[at]! ? codes[at]! : 0]!);
  });
  meanings.forEach(({ name, quotient }, at) => {
    table[name] = rows.map(({ values: [part = 0, whole = 0] }) =>
      quotient === undefined ? (at === 0 ? part : whole) : whole === 0 ? null : part / whole,
    );
  });
  const empty = rows.length === 0;
  const missing = await source.missingValues(database, signal);
  const leftOut = unusable ? ((await source.unusableNote?.(database, signal)) ?? NOTHING) : NOTHING;
  const why = empty ? await source.whyEmpty(database, signal) : NOTHING;
  const cost = answerOrigin(database, question, range, { ...sized, ...answer });
  const beside = [sized, missing, leftOut, why];
  const filter = whereText(options.where ?? {});
  const time = timeColumn("t", every, range);
  const auto = (options.every ?? "auto") === "auto";
  return new Result(aq.table(table), {
    ...cost,
    rowsRead: beside.reduce((sum, { rowsRead }) => sum + rowsRead, cost.rowsRead),
    bytesRead: beside.reduce((sum, { bytesRead }) => sum + bytesRead, cost.bytesRead),
    ...(filter !== "" && { filter }),
    columns: { time, dimensions: columns, measures: meanings },
    reductions: namedSentence(columns, ranked, kept, parts.at(-1)!.label),
    notes: [
      ...(answer.notes.length > 0 ? answer : sized).notes,
      ...(auto && !empty ? [`By ${every}, the finest bucket for fewer than 5,000 rows.`] : []),
      ...source.notes,
      ...movedNote(cells.elsewhere, steps[0]!, range),
      ...leftOut.notes,
      ...(empty ? why.notes : []),
      ...missing.notes,
      ...(empty ? [] : incompleteNotes(time, range)),
    ],
  });
}

/** The additive parts of a measure, the part and the whole of a quotient, and what the columns mean. */
function measured(
  plan: Plan,
  measure: Measure<unknown>,
  action: string,
  dimensions: readonly AskedDimension[],
): { parts: readonly PlannedMeasure[]; meanings: readonly MeasureColumn[] } {
  const { measure: kind, where, of: [first, second] = [], complement } = measure;
  const taken = new Set(["t", ...dimensions.map(({ name }) => name)]);
  const free = (name: string): string => (taken.has(name) ? free(`${name}_`) : name);
  const meaning = ({ name, label, unit, additive, missing }: MeasureColumn): MeasureColumn => ({
    name,
    label,
    unit,
    additive,
    missing,
  });
  if (kind === "count" || kind === "sum") {
    const planned = plan.add(free(kind === "count" ? plan.source.many : "sum"), measure, true);
    return { parts: [planned], meanings: [{ ...meaning(planned), main: true }] };
  }
  if ((kind !== "share" && kind !== "ratio") || first === undefined) {
    throw new ProbelabError(
      `Can't ${action} by ${typeof kind === "string" ? kind : JSON.stringify(measure)}: its values don't add up, so no choice in the figure could be told from the cells. Pass count(), sum(column), share(where) or ratio(a, b), or ask each choice by itself: lab.measurements.ask({ …, where }).`,
    );
  }
  // Planned first: it refuses what is no share or ratio.
  const whole = plan.add(free(kind), measure, true);
  const scope = where && { where };
  const [a, b] =
    kind === "share"
      ? [count({ where: { ...first.where, ...where } }), count({ ...scope })]
      : [first, second!];
  const [part, all] = [plan.add(free("part"), a, false), plan.add(free("whole"), b, false)];
  const rest: PlannedMeasure = {
    ...part,
    label: complement === true ? `${all.label} without ${part.label.toLowerCase()}` : part.label,
    value: (row, minutes) =>
      complement === true
        ? Number(all.value(row, minutes)) - Number(part.value(row, minutes))
        : part.value(row, minutes),
  };
  const quotient = [rest.name, all.name] as const;
  return {
    parts: [rest, all],
    meanings: [meaning(rest), meaning(all), { ...meaning(whole), quotient, main: true }],
  };
}

/** Counts the rows of each value of each dimension, by a hash that holds for any bytes. */
function sizesSql(plan: Plan, dimensions: readonly AskedDimension[]) {
  const { source, aggregates } = plan;
  const unusable = source.unusable === undefined ? [] : ["_unusable"];
  const sets = dimensions.map((_, at) => raw(`(${[`_d${at}`, ...unusable].join(", ")})`));
  const columns: Column[] = [
    ...dimensions.map(({ sql: value }, at): Column => [`_d${at}`, value]),
    ...(source.unusable === undefined ? [] : [["_unusable", source.unusable] as const]),
    ...dimensions.map((_, at): Column => [`_away${at}`, raw(`grouping(_d${at})`)]),
    ...dimensions.map((_, at): Column => [`_hash${at}`, hashOf(raw(`_d${at}`))]),
    [ROWS, rowsSql(source)],
    ...aggregates.map(({ as, cell }): Column => [as, cell]),
  ];
  const groupBy = [sql`GROUPING SETS (${join(sets)})`];
  return print(select({ columns, from: source.from(), groupBy }));
}

function hashOf(text: Sql): Sql {
  return sql`sipHash64(isNull(${text}), ifNull(${text}, ''))`;
}

/** The values of each dimension, the largest first; whether there were rows that don't count. */
function readSizes(
  rows: readonly AnswerRow[],
  dimensions: readonly AskedDimension[],
  parts: readonly PlannedMeasure[],
): { ranked: readonly (readonly Ranked[])[]; unusable: boolean } {
  const usable = rows.filter((row) => Number(row["_unusable"] ?? 0) === 0);
  const ranked = dimensions.map((_, at) =>
    usable
      .filter((row) => Number(row[`_away${at}`]) === 0)
      .map((row): Ranked => {
        const value = (row[`_d${at}`] as string | null) ?? null;
        const size = Math.abs(Number(parts.at(-1)!.value(row, 1)));
        return { value, hash: BigInt(row[`_hash${at}`] as bigint | number), size };
      })
      .sort((a, b) => b.size - a.size || (String(a.value) < String(b.value) ? -1 : 1)),
  );
  return { ranked, unusable: usable.length < rows.length };
}

/** The cells of the named values by their place (0: the others), in one scan. */
function cellsSql(
  plan: Plan,
  dimensions: readonly AskedDimension[],
  {
    range,
    every,
    ranked,
    named,
  }: {
    range: TimeRange;
    every: Bucket;
    ranked: readonly (readonly Ranked[])[];
    named: readonly number[];
  },
) {
  const { source, aggregates } = plan;
  const place = ({ sql: value }: AskedDimension, at: number): Sql => {
    const top = ranked[at]!.slice(0, named[at]).map(({ hash }) => hash);
    if (top.length === 0) return raw("toUInt64(0)");
    const [hashes, places] = [
      bind(`top_${at}`, "Array(UInt64)", top),
      bind(
        `place_${at}`,
        "Array(UInt64)",
        [...top.keys()].map((index) => index + 1),
      ),
    ];
    return sql`transform(${hashOf(asText(value))}, ${hashes}, ${places}, toUInt64(0))`;
  };
  const keys: Column[] = [
    ["_t", raw(bucketSql(source.instant, every, range))],
    ...dimensions.map((dimension, at): Column => [`_p${at}`, place(dimension, at)]),
    ...(source.unusable === undefined ? [] : [["_unusable", source.unusable] as const]),
  ];
  const columns: Column[] = [
    ...keys,
    [ROWS, rowsSql(source)],
    ...aggregates.map(({ as, cell }): Column => [as, cell]),
  ];
  return print(
    select({
      columns,
      from: source.from(),
      groupBy: keys.map(([name]) => name),
      ...(source.unusable !== undefined && { having: [raw("NOT _unusable")] }),
    }),
  );
}

/** A dimension's meaning; the text of each place, "other" first. */
function dimensionColumn(
  { name, of, label, compare }: AskedDimension,
  ranked: readonly Ranked[],
  kept: number,
): { text: readonly (string | null)[]; column: DimensionColumn } {
  const named = ranked.slice(0, kept).map(({ value }) => value);
  const shown = named.map((value) => (value === null ? null : label(value)));
  const other =
    ["other", "other (rest)"].find((text) => !shown.includes(text)) ?? "other (all the rest)";
  const ordered = named
    .map((value, at) => ({ value, text: shown[at]! }))
    .sort((a, b) =>
      compare === undefined
        ? 0
        : a.value === null || b.value === null
          ? Number(a.value === null) - Number(b.value === null)
          : compare(a.value, b.value),
    )
    .map(({ text }) => text);
  // Texts of other bytes may read the same.
  const order = [...new Set(ordered)];
  const rest = kept < ranked.length;
  return {
    text: [other, ...shown],
    column: {
      name,
      order: rest ? [...order, other] : order,
      ...(of !== undefined && { of }),
      ...(rest && { other }),
    },
  };
}

/** `Named: the 9 largest of 31 values of software_version, the 8 largest of 60 of probe_cc (by measurements); …` */
function namedSentence(
  columns: readonly DimensionColumn[],
  ranked: readonly (readonly Ranked[])[],
  kept: readonly number[],
  by: string,
): string[] {
  const cut = columns.flatMap(({ name, other }, at) =>
    other === undefined
      ? []
      : [`${grouped(kept[at]!)} of ${grouped(ranked[at]!.length)} values of ${name}`],
  );
  if (cut.length === 0) return [];
  return [
    `Named are the largest (by ${by.toLowerCase()}): ${cut.join(", ")}; the others are merged.`,
  ];
}
