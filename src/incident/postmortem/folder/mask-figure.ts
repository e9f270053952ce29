import type { Origin, ResultColumns } from "../../../result/origin.js";
import { CHANGED } from "../../../result/changed.js";
import type { Result, Value } from "../../../result/result.js";
import { drawFigure, figureRecord, type Figure } from "../figure.js";
import { mapTexts, maskText, numberedMask, withoutSecrets, type Change } from "../secrets.js";
import { maskComments } from "./mask-comments.js";
import { maskRecipe, maskTitles } from "./mask-recipe.js";

/** What tells where rows come from. */
type Source = Pick<Origin, "sql" | "parameters" | "notes" | "question" | "columns">;

/**
 * True where rows may hold log messages: their question names logs, they were changed after the
 * answer, or they hold columns that the origin doesn't know, so that they may be of anything.
 *
 * @param names the columns of the rows.
 */
export function mayHoldAddresses(origin: Source, names: readonly string[] = []): boolean {
  const { sql, parameters, notes, question, columns } = origin;
  if (/logs/i.test(sql) || /logs/i.test(JSON.stringify(parameters, plain))) return true;
  if (notes.some((note) => note.startsWith(CHANGED))) return true;
  const known = new Set([
    ...(columns.time ? [columns.time.name] : []),
    ...[...columns.dimensions, ...columns.measures].map(({ name }) => name),
    ...Object.keys(columns.kinds ?? {}),
  ]);
  return question === undefined && !names.every((name) => known.has(name));
}

/** How the note on masked addresses begins. */
export const MASKED = "E-mail and IP addresses are masked";

/**
 * The Result with the addresses in its text masked, in the values, the names of columns, the SQL's
 * parameters and the notes. Two addresses stay two: each has its number within the figure, by the
 * order in which they come, names of columns first.
 */
export function maskResult(result: Result, change: Change = numberedMask()): Result {
  let hidden = false;
  const told: Change = (text) => {
    const changed = change(text);
    // Where only a secret is left out, addresses may stand as they are.
    hidden ||= changed !== withoutSecrets(text);
    return changed;
  };
  const masked = (value: Value): Value => mapTexts(value, told);
  const { columns, parameters, question, filter, ...origin } = result.origin;
  const names = result.columnNames;
  const renames = columnRenames(names, told);
  const values = new Map(names.map((name) => [name, result.column(name)]));
  const data = new Map(names.map((name) => [name, values.get(name)?.map(masked) ?? []]));
  // Two values must not become one of what the rows are grouped by.
  const dimensions = columns.dimensions.map((dimension) => {
    const order = dimension.order.map((value) => masked(value) as string | null);
    const labels = new Map(dimension.order.map((value, at) => [value, numbered(order, at)]));
    const label = (value: Value): Value => labels.get(value as string | null) ?? masked(value);
    const column = values.get(dimension.name);
    if (column !== undefined) data.set(dimension.name, column.map(label));
    return {
      ...dimension,
      order: dimension.order.map((value) => labels.get(value) ?? null),
      ...(dimension.other !== undefined && { other: label(dimension.other) as string }),
    };
  });
  const named = names.map((name) => renames.get(name) ?? name);
  const table = result.table.create({
    data: Object.fromEntries(names.map((name, at) => [named[at] ?? name, data.get(name) ?? []])),
    names: named,
  });
  const rowsHidden = hidden;
  const asked = masked(question);
  const same = JSON.stringify(asked) === JSON.stringify(question);
  return result.with(table.ungroup().unorder(), {
    ...origin,
    ...(filter !== undefined && { filter: change(filter) }),
    sql: change(origin.sql),
    parameters: masked(parameters) as Record<string, unknown>,
    columns: renamedColumns({ ...columns, dimensions }, renames, change),
    reductions: origin.reductions.map(change),
    notes: [
      ...origin.notes.map(change),
      ...maskedNote(rowsHidden, question !== undefined && !same),
    ],
    // With an address left out, another question would be asked again.
    ...(question && same && { question }),
  });
}

/** The columns that a change renames, each with a name that no other has. */
function columnRenames(names: readonly string[], change: Change): Map<string, string> {
  const changed = names.map((name) => [name, change(name)] as const);
  const taken = new Set(changed.flatMap(([name, now]) => (now === name ? [name] : [])));
  const renames = new Map<string, string>();
  for (const [name, now] of changed) {
    if (now === name) continue;
    let unique = now;
    for (let count = 2; taken.has(unique); count++) unique = `${now} ${count}`;
    taken.add(unique);
    renames.set(name, unique);
  }
  return renames;
}

function renamedColumns(
  { time, dimensions, measures, kinds }: ResultColumns,
  renames: ReadonlyMap<string, string>,
  change: Change,
): ResultColumns {
  const now = (name: string): string => renames.get(name) ?? change(name);
  return {
    ...(time && { time: { ...time, name: now(time.name) } }),
    dimensions: dimensions.map((each) => ({ ...each, name: now(each.name) })),
    measures: measures.map((each) => ({
      ...each,
      name: now(each.name),
      label: change(each.label),
      unit: change(each.unit),
    })),
    ...(kinds && {
      kinds: Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [now(name), kind])),
    }),
  };
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
 * what the analyst wrote (titles, labels of marks, comments in the SQL), since their versions can look
 * like addresses.
 */
export function maskFigure(figure: Figure, change: Change = maskText): Figure {
  const { result } = figure.content;
  const record = figureRecord(figure);
  if (mayHoldAddresses(result.origin, result.columnNames)) {
    const own = change === maskText ? numberedMask() : change;
    const masked = maskResult(result, own);
    const recipe = maskRecipe(record.recipe, columnRenames(result.columnNames, own), own);
    return drawFigure({ ...record, caption: own(record.caption), recipe }, masked);
  }
  const caption = change(record.caption);
  const recipe = maskTitles(record.recipe, change);
  const commented = maskComments(result, change);
  return commented === result && JSON.stringify(recipe) === JSON.stringify(record.recipe)
    ? { ...figure, caption }
    : drawFigure({ ...record, caption, recipe }, commented);
}

/** The text, with a number where the same stands before it. */
function numbered(order: readonly (string | null)[], at: number): string | null {
  const value = order[at] ?? null;
  const before = order.slice(0, at).filter((each) => each === value).length;
  return value === null || before === 0 ? value : `${value} ${before + 1}`;
}
