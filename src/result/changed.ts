import type { ColumnTable } from "arquero";
import { formatRange } from "../time/time-range.js";
import type { Origin } from "./origin.js";
import { stillTrue } from "./still-true.js";

/** How the note on rows that were changed begins. */
export const CHANGED = "The rows were changed after the answer";

/** What a verb did: which row before each row is, and the words for it. */
export interface Step {
  readonly rows: readonly number[];
  /** `kept 12 of 40 rows (filter)`; missing where nothing was left out or made. */
  readonly done?: string;
}

/**
 * The origin of rows that were changed: what is still true of it, and a note on what was done, one
 * for all steps: `The rows were changed after the answer: kept 12 of 40 rows (filter); computed
 * column share (derive).`
 */
export function changedOrigin(
  before: { readonly table: ColumnTable; readonly origin: Origin },
  table: ColumnTable,
  step?: Step,
): Origin {
  const origin = stillTrue(before, table, step?.rows);
  const count = before.table.numRows();
  const left = table.numRows();
  const counted = left === count ? [] : [`${left.toLocaleString("en-US")} of ${rowsText(count)}`];
  const parts = step ? (step.done === undefined ? [] : [step.done]) : counted;
  const lost = before.origin.range && origin.range === undefined ? before.origin.range : undefined;
  return withStep(origin, [...parts, ...(lost ? [`asked of ${formatRange(lost)}`] : [])], left);
}

/** The origin with what was done in its note on changed rows; first of the notes where no row is left. */
export function withStep(origin: Origin, done: readonly string[], left: number): Origin {
  const before = origin.notes.find((note) => note.startsWith(CHANGED));
  const others = origin.notes.filter((note) => note !== before);
  const parts = (before?.slice(CHANGED.length).replace(/^: |\.$/g, "") ?? "").split("; ");
  // Of counts that nobody explains only the last tells something.
  const told = parts.filter((part) => part !== "" && !/^[\d,]+ of [\d,]+ rows?$/.test(part));
  const all = [...told, ...done].join("; ");
  const note = `${CHANGED}${all === "" ? "" : `: ${all}`}.`;
  return { ...origin, notes: left === 0 ? [note, ...others] : [...others, note] };
}

/** `40 rows`, `1 row`. */
export function rowsText(count: number): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? "row" : "rows"}`;
}
