import type { PdfDocument } from "../../../chart/render/pdf-document.js";
import type { Span } from "./blocks.js";
import { SOFT, textLength } from "./pdf-flow.js";
import type { TextStyle } from "./pdf-text.js";

/** A cell: what it says, and how long its bar is, from 0 to 1. */
export interface PdfCell {
  readonly spans: readonly Span[];
  readonly bar?: number;
}

/** A table as it is set. */
export interface PdfTable {
  /** None where the rows' first cells name them. */
  readonly heads?: readonly string[];
  readonly rows: readonly (readonly PdfCell[])[];
  /** Columns of numbers, set to the right. */
  readonly numbers?: readonly boolean[];
  /** Leading columns that name their row. */
  readonly named?: number;
}

export const CELL: TextStyle = { size: 8.5 };
export const HEAD: TextStyle = { size: 8, bold: true, colour: SOFT };
export const GAP = 8;
/** What a bar takes of its cell. */
export const BAR_ROOM = 48;

/** No column is measured further: it is broken into lines in any case. */
const MEASURED = 400;

/** As wide as their longest line where that fits; else the widest columns give way. */
export function columnWidths(pdf: PdfDocument, table: PdfTable, room: number): number[] {
  const columns = Math.max(table.heads?.length ?? 0, ...table.rows.map((row) => row.length));
  const needed = Array.from({ length: columns }, (_, index) => {
    const cells = table.rows.map((row) => {
      const { spans = [], bar } = row[index] ?? {};
      const text = spans.map((span) => span.text).join("");
      const length = textLength(pdf, `${text.slice(0, MEASURED)}`, CELL);
      return length + (bar === undefined ? 0 : BAR_ROOM) + 1;
    });
    // A head may be broken: its longest word must fit.
    const words = (table.heads?.[index] ?? "").slice(0, MEASURED).split(" ");
    return Math.max(12, ...words.map((word) => textLength(pdf, word, HEAD) + 1), ...cells);
  });
  const free = room - GAP * (columns - 1);
  // Heads stand on one line or two where there is room.
  const whole = needed.map((width, index) =>
    Math.max(width, Math.min(90, textLength(pdf, table.heads?.[index] ?? "", HEAD) + 1)),
  );
  const wanted = whole.reduce((sum, width) => sum + width, 0) <= free ? whole : needed;
  const most = widest(wanted, free);
  const cut = wanted.filter((width) => width > most);
  const roots = cut.reduce((sum, width) => sum + Math.sqrt(width), 0);
  // Of those that are cut, the one with more to say gets more.
  const shared = wanted.map((width) => {
    const share = (most * cut.length * Math.sqrt(width)) / roots;
    return width > most ? Math.max(most / 2, Math.min(width, share)) : width;
  });
  const sum = shared.reduce((total, width) => total + width, 0);
  return shared.map((width) => width * Math.min(1, free / sum));
}

/** The width to which the widest columns are cut, so that all fit. */
function widest(wanted: readonly number[], free: number): number {
  let most = free;
  for (let step = 0; step < 30; step++) {
    const sum = wanted.reduce((total, width) => total + Math.min(width, most), 0);
    if (sum <= free) break;
    most -= (sum - free) / (wanted.filter((width) => width >= most).length || 1);
  }
  return most;
}
