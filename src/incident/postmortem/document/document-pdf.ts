import { Chart } from "../../../chart/chart-value.js";
import { cleanText } from "../../../chart/label.js";
import type { TableModel } from "../../../chart/table-model.js";
import { originRecord } from "../../../chart/origin-record.js";
import { drawSvg, POINTS_PER_PIXEL, svgSize } from "../../../chart/render/draw-svg.js";
import { openPdf, type PdfDocument } from "../../../chart/render/pdf-document.js";
import type { PostmortemRecord } from "../record.js";
import type { Block, Span } from "./blocks.js";
import type { PdfTable } from "./pdf-columns.js";
import { drawLines, flow, lineHeight, linesHeight, SOFT, textLength } from "./pdf-flow.js";
import { breakLines } from "./pdf-lines.js";
import { PdfPages } from "./pdf-pages.js";
import { heightOf, tableBeginning, writeTable } from "./pdf-table.js";
import { destination, type TextStyle } from "./pdf-text.js";

type FigureBlock = Extract<Block, { kind: "figure" }>;

const TEXT: TextStyle = { size: 10 };
const SMALL: TextStyle = { size: 8, colour: SOFT };
const TITLE: TextStyle = { size: 20, bold: true };
const SECTION: TextStyle = { size: 13, bold: true };
const CAPTION: TextStyle = { size: 11, bold: true };

/**
 * Blocks as a PDF document: A4, text upright, figures across; tagged, in the shipped font, charts as
 * vectors. The origin of every figure is attached as `NAME.origin.json`. Same blocks, same bytes.
 */
export async function documentPdf(
  { title, savedAt }: Pick<PostmortemRecord, "title" | "savedAt">,
  blocks: readonly Block[],
): Promise<Buffer> {
  const pdf = await openPdf({ title, date: new Date(savedAt) });
  const pages = new PdfPages(pdf, cleanText(title, 300));
  for (const [index, block] of blocks.entries())
    await writeBlock(pdf, pages, block, blocks[index + 1]);
  return pdf.bytes();
}

async function writeBlock(
  pdf: PdfDocument,
  pages: PdfPages,
  block: Block,
  next: Block | undefined,
): Promise<void> {
  switch (block.kind) {
    case "heading":
      // Figures are wider than high.
      if (next?.kind === "figure") pages.next({ landscape: true });
      heading(pdf, pages, block.level, block.text, next);
      return;
    case "paragraph": {
      paragraph(pdf, pages, block.spans, next === undefined ? SMALL : TEXT);
      return;
    }
    case "list":
      list(
        pdf,
        pages,
        block.items.map((spans) => ["•", spans] as const),
      );
      return;
    case "checklist":
      list(
        pdf,
        pages,
        block.items.map(({ done, spans }) => [done ? "[x]" : "[ ]", spans] as const),
      );
      return;
    case "facts":
    case "table":
      writeTable(pdf, pages, wordsTable(block));
      return;
    case "figure":
      await figure(pdf, pages, block);
  }
}

function wordsTable(block: Extract<Block, { kind: "facts" | "table" }>): PdfTable {
  if (block.kind === "facts") {
    const rows = block.facts.map(([name, spans]) => [{ spans: [{ text: name }] }, { spans }]);
    return { rows, named: 1 };
  }
  return { heads: block.heads, rows: block.rows.map((row) => row.map((spans) => ({ spans }))) };
}

function heading(
  pdf: PdfDocument,
  pages: PdfPages,
  level: 1 | 2,
  text: string,
  next: Block | undefined,
): void {
  const style = level === 1 ? TITLE : SECTION;
  const lines = breakLines(pdf, [{ text }], pages.width, style).length;
  // Some of what follows must stand on the same page.
  const beginning =
    next?.kind === "facts" || next?.kind === "table"
      ? tableBeginning(pdf, pages, wordsTable(next))
      : 3 * lineHeight(TEXT);
  const height = lines * lineHeight(style) + beginning + 10;
  if (!pages.begin(Math.min(height, pages.height)) && level === 2) pages.y += 8;
  const element = pdf.kit.struct(`H${level}`);
  pdf.add(element);
  flow(pdf, pages, element, [{ text }], style);
  element.end();
  pages.y += level === 1 ? 6 : 2;
}

function paragraph(
  pdf: PdfDocument,
  pages: PdfPages,
  spans: readonly Span[],
  style: TextStyle,
): void {
  const element = pdf.kit.struct("P");
  pdf.add(element);
  flow(pdf, pages, element, spans, style);
  element.end();
  pages.y += 4;
}

function list(
  pdf: PdfDocument,
  pages: PdfPages,
  items: readonly (readonly [string, readonly Span[]])[],
): void {
  const { kit } = pdf;
  const root = kit.struct("L");
  pdf.add(root);
  const indent = Math.max(...items.map(([mark]) => textLength(pdf, mark, TEXT))) + 6;
  for (const [mark, spans] of items) {
    pages.begin(2 * lineHeight(TEXT));
    const item = kit.struct("LI");
    root.add(item);
    const [label, body] = [kit.struct("Lbl"), kit.struct("LBody")];
    item.add(label);
    item.add(body);
    const place = { x: pages.left, y: pages.y, width: indent };
    drawLines(pdf, label, breakLines(pdf, [{ text: mark }], indent, TEXT), place, TEXT);
    flow(pdf, pages, body, spans, TEXT, indent);
    item.end();
    pages.y += 2;
  }
  root.end();
  pages.y += 4;
}

async function figure(
  pdf: PdfDocument,
  pages: PdfPages,
  { number, figure: { name, caption, content } }: FigureBlock,
): Promise<void> {
  const svg = content instanceof Chart ? await content.svg() : undefined;
  const size = svg === undefined ? undefined : svgSize(svg);
  const scale = size ? Math.min(POINTS_PER_PIXEL, pages.width / size.width) : 1;
  const spans = [{ text: `Figure ${number}: ${caption}` }];
  const head = linesHeight(breakLines(pdf, spans, pages.width, CAPTION), CAPTION) + 4;
  // A caption of half a page leaves no room for the chart beside it.
  const isLong = head > pages.height / 2;
  const room = isLong ? pages.height : pages.height - head;
  const fit = size ? Math.min(scale, room / size.height) : 1;
  const shown = content instanceof Chart ? undefined : pdfTable(content.model);
  const tall = shown ? heightOf(pdf, pages, shown) : 0;
  // A table that takes several pages in any case begins where there is some room.
  const below = shown ? (tall <= room ? tall : pages.height / 3) : (size?.height ?? 0) * fit;
  if (!isLong) pages.begin(head + below);
  const { kit } = pdf;
  kit.addNamedDestination(destination(`Figure ${number}`), "XYZ", pages.left, pages.y, null);
  const title = kit.struct("H3");
  pdf.add(title);
  flow(pdf, pages, title, spans, CAPTION);
  title.end();
  pages.y += 4;
  pages.begin(below);
  if (svg !== undefined && size !== undefined) {
    pages.y += await drawSvg(pdf, svg, pages.left, pages.y, size.width * fit);
  } else if (shown && !(content instanceof Chart)) {
    writeTable(pdf, pages, shown);
    const { notes } = content.model;
    if (notes.length > 0) paragraph(pdf, pages, [{ text: notes.join(" ") }], SMALL);
  }
  pages.y += 14;
  pdf.attachJson(
    `${name}.origin.json`,
    originRecord(content.origin),
    `Where figure ${number} comes from`,
  );
}

function pdfTable({ columns, heads, rows }: TableModel): PdfTable {
  return {
    heads: columns.map(({ title }) => title),
    rows: rows.map((row) =>
      row.map(({ text, bar }) => ({ spans: [{ text }], ...(bar !== undefined && { bar }) })),
    ),
    numbers: columns.map((column) => column.number),
    named: heads,
  };
}
