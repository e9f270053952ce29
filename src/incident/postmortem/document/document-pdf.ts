import { Chart } from "../../../chart/chart-value.js";
import { cleanText } from "../../../chart/label.js";
import type { TableModel } from "../../../chart/table-model.js";
import { originRecord } from "../../../chart/origin-record.js";
import { drawSvg, POINTS_PER_PIXEL, svgSize } from "../../../chart/render/draw-svg.js";
import { openPdf, type PdfDocument } from "../../../chart/render/pdf-document.js";
import type { PostmortemRecord } from "../record.js";
import type { Block, Span } from "./blocks.js";
import {
  destination,
  SOFT,
  spansHeight,
  textLength,
  writeSpans,
  type TextStyle,
} from "./pdf-flow.js";
import { PdfPages } from "./pdf-pages.js";
import { heightOf, writeTable, type PdfTable } from "./pdf-table.js";

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
  for (const block of blocks) await writeBlock(pdf, pages, block, blocks);
  return pdf.bytes();
}

async function writeBlock(
  pdf: PdfDocument,
  pages: PdfPages,
  block: Block,
  blocks: readonly Block[],
): Promise<void> {
  switch (block.kind) {
    case "heading":
      // Figures are wider than high.
      if (blocks[blocks.indexOf(block) + 1]?.kind === "figure") pages.next({ landscape: true });
      heading(pdf, pages, block.level, block.text);
      return;
    case "paragraph": {
      const last = block === blocks.at(-1);
      paragraph(pdf, pages, block.spans, last ? SMALL : TEXT);
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
    case "facts": {
      const rows = block.facts.map(([name, spans]) => [{ spans: [{ text: name }] }, { spans }]);
      writeTable(pdf, pages, { rows, named: 1 });
      return;
    }
    case "table": {
      const rows = block.rows.map((row) => row.map((spans) => ({ spans })));
      writeTable(pdf, pages, { heads: block.heads, rows });
      return;
    }
    case "figure":
      await figure(pdf, pages, block);
  }
}

function heading(pdf: PdfDocument, pages: PdfPages, level: 1 | 2, text: string): void {
  const style = level === 1 ? TITLE : SECTION;
  const spans = [{ text }];
  const height = spansHeight(pdf, spans, pages.width, style);
  // Some of what follows must stand on the same page.
  if (!pages.begin(height + 50) && level === 2) pages.y += 8;
  const place = { x: pages.left, y: pages.y, width: pages.width };
  pdf.add(pdf.kit.struct(`H${level}`, {}, () => writeSpans(pdf, spans, place, style)));
  pages.y += height + (level === 1 ? 6 : 2);
}

function paragraph(
  pdf: PdfDocument,
  pages: PdfPages,
  spans: readonly Span[],
  style: TextStyle,
): void {
  const height = spansHeight(pdf, spans, pages.width, style);
  pages.begin(Math.min(height, pages.height));
  const place = { x: pages.left, y: pages.y, width: pages.width };
  pdf.add(pdf.kit.struct("P", {}, () => writeSpans(pdf, spans, place, style)));
  pages.y = height > pages.height ? pdf.kit.y : pages.y + height;
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
    const height = spansHeight(pdf, spans, pages.width - indent, TEXT);
    pages.begin(Math.min(height, pages.height));
    const top = pages.y;
    const item = kit.struct("LI");
    root.add(item);
    const marked = { x: pages.left, y: top, width: indent };
    item.add(kit.struct("Lbl", {}, () => writeSpans(pdf, [{ text: mark }], marked, TEXT)));
    const place = { x: pages.left + indent, y: top, width: pages.width - indent };
    item.add(kit.struct("LBody", {}, () => writeSpans(pdf, spans, place, TEXT)));
    item.end();
    pages.y = (height > pages.height ? kit.y : top + height) + 2;
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
  const head = spansHeight(pdf, spans, pages.width, CAPTION) + 4;
  const room = pages.height - head;
  const fit = size ? Math.min(scale, room / size.height) : 1;
  const shown = content instanceof Chart ? undefined : pdfTable(content.model);
  const below = shown ? heightOf(pdf, pages, shown) : (size?.height ?? 0) * fit;
  pages.begin(head + Math.min(below, room));
  const { kit } = pdf;
  kit.addNamedDestination(destination(`Figure ${number}`), "XYZ", pages.left, pages.y, null);
  const place = { x: pages.left, y: pages.y, width: pages.width };
  pdf.add(kit.struct("H3", {}, () => writeSpans(pdf, spans, place, CAPTION)));
  pages.y += head;
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
