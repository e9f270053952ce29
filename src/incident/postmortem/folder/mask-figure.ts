import type { Json } from "../../../result/json.js";
import type { Origin } from "../../../result/origin.js";
import type { Result, Value } from "../../../result/result.js";
import { drawFigure, figureRecord, type Figure } from "../figure.js";
import { mapTexts, maskText, numberedMask } from "../secrets.js";

/** Changes a text: `maskText`, or `withoutSecrets` where addresses may stay. */
type Change = (text: string) => string;

/** True where rows may hold log messages: their SQL reads the table `logs`. */
export function mayHoldAddresses({ sql }: Pick<Origin, "sql">): boolean {
  return /\blogs\b/i.test(sql);
}

/** How the note on masked addresses begins. */
export const MASKED = "E-mail and IP addresses are masked";

/**
 * The Result with the addresses in its text masked, in the values, the SQL's parameters and the notes.
 * Two addresses stay two: each has its number within the figure, by the order in which they come.
 */
export function maskResult(result: Result, change: Change = numberedMask()): Result {
  const masked = (value: Value): Value => mapTexts(value, change);
  const { columns, parameters, question, filter, ...origin } = result.origin;
  const values = new Map<string, Value[]>(
    result.columnNames.map((name) => [name, result.column(name).map(masked)]),
  );
  const before = JSON.stringify(
    result.columnNames.map((name) => [name, result.column(name)]),
    plain,
  );
  // Two values must not become one of what the rows are grouped by.
  const dimensions = columns.dimensions.map((dimension) => {
    const order = dimension.order.map((value) => masked(value) as string | null);
    const labels = new Map(dimension.order.map((value, at) => [value, told(order, at)]));
    const column = result.columnNames.includes(dimension.name) ? result.column(dimension.name) : [];
    values.set(
      dimension.name,
      column.map((value) => labels.get(value as string | null) ?? masked(value)),
    );
    return { ...dimension, order: dimension.order.map((value) => labels.get(value) ?? null) };
  });
  const names = result.columnNames.filter((name) => values.has(name));
  const table = result.table.create({
    data: Object.fromEntries(names.map((name) => [name, values.get(name) ?? []])),
  });
  const asked = masked(question);
  const hidden = JSON.stringify([...values], plain) !== before;
  const same = JSON.stringify(asked) === JSON.stringify(question);
  return result.with(table.ungroup().unorder(), {
    ...origin,
    ...(filter !== undefined && { filter: change(filter) }),
    sql: change(origin.sql),
    parameters: masked(parameters) as Record<string, unknown>,
    columns: { ...columns, dimensions },
    reductions: origin.reductions.map(change),
    notes: [...origin.notes.map(change), ...maskedNote(hidden, question !== undefined && !same)],
    // With an address left out, another question would be asked again.
    ...(question && same && { question }),
  });
}

function maskedNote(hidden: boolean, asked: boolean): string[] {
  if (asked) return [`${MASKED}, also in the question, which can't be asked again.`];
  return hidden ? [`${MASKED}.`] : [];
}

function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

/**
 * The figure with masked words, drawn anew: of rows that may hold log messages all of them, of others
 * what the analyst wrote (titles, labels of marks), since their versions can look like addresses.
 */
export function maskFigure(figure: Figure, change: Change = maskText): Figure {
  const { result } = figure.content;
  const record = figureRecord(figure);
  if (mayHoldAddresses(result.origin)) {
    const own = change === maskText ? numberedMask() : change;
    const masked = maskResult(result, own);
    const recipe = mapTexts(record.recipe, own);
    return drawFigure({ ...record, caption: own(record.caption), recipe }, masked);
  }
  const caption = change(record.caption);
  const recipe = maskTitles(record.recipe, change);
  return JSON.stringify(recipe) === JSON.stringify(record.recipe)
    ? { ...figure, caption }
    : drawFigure({ ...record, caption, recipe }, result);
}

const WRITTEN = new Set(["title", "subtitle", "caption", "label", "text"]);

function maskTitles(value: Json, change: Change, written = false): Json {
  if (typeof value === "string") return written ? change(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((each) => maskTitles(each, change, written));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      maskTitles(inner, change, WRITTEN.has(name)),
    ]),
  );
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** The text, with a number where the same stands before it. */
function told(order: readonly (string | null)[], at: number): string | null {
  const value = order[at] ?? null;
  const before = order.slice(0, at).filter((each) => each === value).length;
  return value === null || before === 0 ? value : `${value} ${before + 1}`;
}
