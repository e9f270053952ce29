import type { PdfDocument } from "../../../chart/render/pdf-document.js";
import {
  BAR_ROOM,
  CELL,
  columnWidths,
  GAP,
  HEAD,
  type PdfCell,
  type PdfTable,
} from "./pdf-columns.js";
import { drawLines, LINE, lineHeight } from "./pdf-flow.js";
import { breakLines, type Line } from "./pdf-lines.js";
import type { PdfPages } from "./pdf-pages.js";
import type { TextStyle } from "./pdf-text.js";

const PAD = 3;
const BAR = { width: BAR_ROOM - 4, height: 6, colour: "#4a90c2" };

/** A row with its text in lines. */
interface SetRow {
  readonly cells: readonly { readonly lines: readonly Line[]; readonly bar?: number }[];
  readonly height: number;
  readonly style: TextStyle;
}

interface Columns extends PdfTable {
  readonly widths: readonly number[];
}

/**
 * Sets a table, tagged; its head stands again on every page. A row goes to the next page as a whole,
 * one of more than a third of a page is parted.
 */
export function writeTable(pdf: PdfDocument, pages: PdfPages, table: PdfTable): void {
  const { kit } = pdf;
  const columns: Columns = { ...table, widths: columnWidths(pdf, table, pages.width) };
  const head = headRow(pdf, columns);
  pages.begin(tableBeginning(pdf, pages, table));
  const root = kit.struct("Table");
  pdf.add(root);
  const begin = (): void => {
    if (head) writeRow(pdf, pages, root, head, columns, () => undefined);
  };
  begin();
  for (const cells of table.rows) {
    const row = setRow(pdf, cells, columns.widths, CELL);
    if (row.height <= pages.height / 3 && pages.begin(row.height)) begin();
    writeRow(pdf, pages, root, row, columns, begin);
  }
  root.end();
  pages.y += 6;
}

/** The height of a table of that width, head and all. */
export function heightOf(pdf: PdfDocument, pages: PdfPages, table: PdfTable): number {
  const widths = columnWidths(pdf, table, pages.width);
  const head = headRow(pdf, { ...table, widths })?.height ?? 0;
  return table.rows.reduce((sum, cells) => sum + setRow(pdf, cells, widths, CELL).height, head);
}

/**
 * The height that must be free for a table to begin: all of a small one, of others the head and the
 * first row, or some of it.
 */
export function tableBeginning(pdf: PdfDocument, pages: PdfPages, table: PdfTable): number {
  const widths = columnWidths(pdf, table, pages.width);
  const head = headRow(pdf, { ...table, widths })?.height ?? 0;
  const [first] = table.rows;
  if (table.rows.length <= 12) {
    const whole = heightOf(pdf, pages, table);
    if (whole <= pages.height / 3) return whole;
  }
  const row = first ? setRow(pdf, first, widths, CELL).height : 0;
  return head + (row <= pages.height / 3 ? row : 4 * lineHeight(CELL));
}

function headRow(pdf: PdfDocument, { heads, widths }: Columns): SetRow | undefined {
  if (heads === undefined) return undefined;
  const cells = heads.map((text) => ({ spans: [{ text }] }));
  return setRow(pdf, cells, widths, HEAD);
}

function setRow(
  pdf: PdfDocument,
  row: readonly PdfCell[],
  widths: readonly number[],
  style: TextStyle,
): SetRow {
  const cells = row.map(({ spans, bar }, index) => {
    const width = (widths[index] ?? 0) - (bar === undefined ? 0 : BAR_ROOM);
    return { lines: breakLines(pdf, spans, width, style), ...(bar !== undefined && { bar }) };
  });
  const most = Math.max(1, ...cells.map(({ lines }) => lines.length));
  return { cells, style, height: most * lineHeight(style) + 2 * PAD };
}

/** @param begin is called on each further page that a row takes. */
function writeRow(
  pdf: PdfDocument,
  pages: PdfPages,
  table: PDFKit.PDFStructureElement,
  { cells, style, height }: SetRow,
  { widths, numbers = [], named = 0 }: Columns,
  begin: () => void,
): void {
  const { kit } = pdf;
  const element = kit.struct("TR");
  table.add(element);
  const isHead = style === HEAD;
  const set = cells.map((_, index) => {
    const scope = isHead ? "Column" : index < named ? "Row" : undefined;
    const cell = kit.struct(scope ? "TH" : "TD", (scope ? { scope } : {}) as object);
    element.add(cell);
    return cell;
  });
  const most = Math.round((height - 2 * PAD) / lineHeight(style));
  for (let done = 0; done < most;) {
    if (done > 0) {
      pages.next();
      begin();
    }
    const fitting = Math.floor((pages.room - 2 * PAD + 0.01) / lineHeight(style));
    const count = Math.max(1, Math.min(most - done, fitting));
    const top = pages.y + PAD;
    let x = pages.left;
    for (const [index, { lines, bar }] of cells.entries()) {
      const width = widths[index] ?? 0;
      const place = {
        x,
        y: top,
        width: width - (bar === undefined ? 0 : BAR_ROOM),
        align: numbers[index] ? "right" : "left",
      } as const;
      const cell = set[index];
      if (cell) drawLines(pdf, cell, lines.slice(done, done + count), place, style);
      if (bar !== undefined && bar > 0 && done === 0) drawBar(pdf, x + width, top, bar);
      x += width + GAP;
    }
    pages.y += count * lineHeight(style) + 2 * PAD;
    done += count;
    drawRule(pdf, pages);
  }
  for (const cell of set) cell.end();
  element.end();
}

function drawBar({ kit }: PdfDocument, right: number, top: number, share: number): void {
  kit.markContent("Artifact");
  const length = Math.max(0.5, share * BAR.width);
  kit.rect(right - BAR.width, top + 2, length, BAR.height).fill(BAR.colour);
  kit.endMarkedContent();
}

function drawRule({ kit }: PdfDocument, pages: PdfPages): void {
  kit.markContent("Artifact");
  kit.moveTo(pages.left, pages.y).lineTo(pages.left + pages.width, pages.y);
  kit.lineWidth(0.5).stroke(LINE);
  kit.endMarkedContent();
}
