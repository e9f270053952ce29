import type { PdfDocument } from "../../../chart/render/pdf-document.js";
import type { Span } from "./blocks.js";
import type { PdfPages } from "./pdf-pages.js";
import { LINE, SOFT, spansHeight, textLength, writeSpans, type TextStyle } from "./pdf-flow.js";

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

const CELL: TextStyle = { size: 8.5 };
const HEAD: TextStyle = { size: 8, bold: true, colour: SOFT };
const GAP = 8;
const PAD = 3;
const BAR = { width: 44, height: 6, colour: "#4a90c2" };

/** Sets a table, tagged; its head stands again on every page. */
export function writeTable(pdf: PdfDocument, pages: PdfPages, table: PdfTable): void {
  const { kit } = pdf;
  const widths = columnWidths(pdf, table, pages.width);
  pages.begin(Math.min(tableHeight(pdf, table, widths), pages.height));
  const root = kit.struct("Table");
  pdf.add(root);
  const head = (): void => {
    if (table.heads === undefined) return;
    const cells = table.heads.map((text) => ({ spans: [{ text }] }));
    root.add(row(pdf, pages, cells, widths, table, "head"));
  };
  head();
  for (const cells of table.rows) {
    const height = rowHeight(pdf, cells, widths, CELL);
    if (pages.begin(height)) head();
    root.add(row(pdf, pages, cells, widths, table, "body"));
  }
  root.end();
  pages.y += 6;
}

/** The height of a table of that width, head and all. */
export function heightOf(pdf: PdfDocument, pages: PdfPages, table: PdfTable): number {
  return tableHeight(pdf, table, columnWidths(pdf, table, pages.width));
}

function tableHeight(pdf: PdfDocument, table: PdfTable, widths: readonly number[]): number {
  const heads = (table.heads ?? []).map((text) => ({ spans: [{ text }] }));
  const head = heads.length === 0 ? 0 : rowHeight(pdf, heads, widths, HEAD);
  return table.rows.reduce((sum, cells) => sum + rowHeight(pdf, cells, widths, CELL), head);
}

function row(
  pdf: PdfDocument,
  pages: PdfPages,
  cells: readonly PdfCell[],
  widths: readonly number[],
  { numbers = [], named = 0 }: PdfTable,
  part: "head" | "body",
): PDFKit.PDFStructureElement {
  const { kit } = pdf;
  const style = part === "head" ? HEAD : CELL;
  const height = rowHeight(pdf, cells, widths, style);
  pages.begin(height);
  const top = pages.y + PAD;
  const element = kit.struct("TR");
  let x = pages.left;
  for (const [index, cell] of cells.entries()) {
    const width = widths[index] ?? 0;
    const right = numbers[index] ?? false;
    const bar = cell.bar === undefined ? 0 : BAR.width + 4;
    const at = x;
    const kind = part === "head" || index < named ? "TH" : "TD";
    element.add(
      kit.struct(kind, {}, () => {
        const place = { x: at, y: top, width: width - bar };
        writeSpans(pdf, cell.spans, place, { ...style, align: right ? "right" : "left" });
      }),
    );
    if (cell.bar !== undefined && cell.bar > 0) {
      const length = Math.max(0.5, cell.bar * BAR.width);
      kit.markContent("Artifact");
      kit.rect(at + width - BAR.width, top + 2, length, BAR.height).fill(BAR.colour);
      kit.endMarkedContent();
    }
    x += width + GAP;
  }
  kit.markContent("Artifact");
  const below = pages.y + height;
  kit.moveTo(pages.left, below).lineTo(pages.left + pages.width, below);
  kit.lineWidth(0.5).stroke(LINE);
  kit.endMarkedContent();
  pages.y = below;
  return element;
}

function rowHeight(
  pdf: PdfDocument,
  cells: readonly PdfCell[],
  widths: readonly number[],
  style: TextStyle,
): number {
  const heights = cells.map(({ spans, bar }, index) =>
    spansHeight(pdf, spans, (widths[index] ?? 0) - (bar === undefined ? 0 : BAR.width + 4), style),
  );
  return Math.max(...heights) + 2 * PAD;
}

/** As wide as their longest line where that fits; else the widest columns give way. */
function columnWidths(pdf: PdfDocument, table: PdfTable, room: number): number[] {
  const columns = Math.max(table.heads?.length ?? 0, ...table.rows.map((row) => row.length));
  const wanted = Array.from({ length: columns }, (_, index) => {
    const cells = table.rows.map((row) => {
      const { spans = [], bar } = row[index] ?? {};
      const text = spans.map((span) => span.text).join("");
      return textLength(pdf, `${text} `, CELL) + (bar === undefined ? 0 : BAR.width + 4) + 1;
    });
    // A head may be broken: its longest word must fit.
    const words = (table.heads?.[index] ?? "").split(" ");
    return Math.max(12, ...words.map((word) => textLength(pdf, `${word} `, HEAD) + 1), ...cells);
  });
  const free = room - GAP * (columns - 1);
  let most = free;
  // The width to which the widest are cut, so that all fit.
  for (let step = 0; step < 30; step++) {
    const sum = wanted.reduce((total, width) => total + Math.min(width, most), 0);
    if (sum <= free) break;
    const cut = wanted.filter((width) => width >= most).length || 1;
    most -= (sum - free) / cut;
  }
  return wanted.map((width) => Math.min(width, most));
}
