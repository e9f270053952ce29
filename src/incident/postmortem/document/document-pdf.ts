import { Chart } from "../../../chart/chart-value.js";
import { cleanText } from "../../../base/text.js";
import { originRecord } from "../../../chart/origin-record.js";
import { textWidth } from "../../../fonts/shipped-font.js";
import { shownText } from "../../../fonts/other-fonts.js";
import { dateParts, POINTS_PER_PIXEL, typeset } from "../../../chart/render/pdf.js";
import { layOut, svgSize } from "../../../chart/render/svg.js";
import type { TableModel } from "../../../chart/table-model.js";
import type { PostmortemRecord } from "../record.js";
import type { Block, Span } from "./blocks.js";
import { TEMPLATE } from "./pdf-template.js";

/** A run of text as the template takes it: `to` leads to an address, `figure` to a figure's label. */
type Run = { readonly text: string; readonly to?: string; readonly figure?: string };

/** A table as the template takes it. */
interface PdfTable {
  readonly heads: readonly string[];
  /** `wide`: columns take what they need; `facts`: a name and what it is; `words`: the second one gets the room. */
  readonly columns: readonly ("auto" | "fraction")[];
  /** Columns of numbers, set to the right. */
  readonly numbers: readonly boolean[];
  readonly rows: readonly (readonly { readonly runs: readonly Run[]; readonly bar?: number }[])[];
}

/** A block of the template; text in it is clean. */
type PdfBlock = { readonly kind: string } & Readonly<Record<string, unknown>>;

const FOOT = { size: 7.5, width: 440 };

/**
 * Blocks as a PDF document: A4, text upright, figures across, charts as vectors, in the shipped font.
 * The origin of every figure is attached as `NAME.origin.json`. Same blocks, same bytes.
 */
export async function documentPdf(
  { title, savedAt }: Pick<PostmortemRecord, "title" | "savedAt">,
  blocks: readonly Block[],
): Promise<Buffer> {
  const pictures = new Map<string, string>();
  const origins = new Map<string, string>();
  const made: PdfBlock[] = [];
  for (const block of blocks) {
    if (block.kind !== "figure") made.push(pdfBlock(block));
    else {
      const { name, content } = block.figure;
      const svg = content instanceof Chart ? await layOut(content.spec) : undefined;
      if (svg !== undefined) pictures.set(`${name}.svg`, svg);
      origins.set(`${name}.origin.json`, JSON.stringify(originRecord(content.origin)));
      made.push(figureBlock(block, svg));
    }
  }
  const firstFigure = made.findIndex(({ kind }) => kind === "figure");
  const across = firstFigure < 0 ? made.length : firstFigure - 1;
  const data = {
    title: cleanText(title),
    foot: footOf(cleanText(title, 300)),
    date: dateParts(new Date(savedAt)),
    upright: made.slice(0, across),
    across: made.slice(across),
  };
  const shown = [JSON.stringify(data), ...[...pictures.values()].map(shownText)].join("");
  return typeset({ markup: TEMPLATE, data, pictures, origins, shown });
}

function pdfBlock(block: Exclude<Block, { kind: "figure" }>): PdfBlock {
  switch (block.kind) {
    case "heading":
      return { ...block, text: cleanText(block.text) };
    case "paragraph":
      return { kind: "paragraph", runs: runs(block.spans) };
    case "list":
      return { kind: "list", items: block.items.map((item) => ["•", runs(item)]) };
    case "checklist":
      return {
        kind: "list",
        items: block.items.map(({ done, spans }) => [done ? "[x]" : "[ ]", runs(spans)]),
      };
    case "facts":
      return tableBlock({
        heads: [],
        columns: ["auto", "fraction"],
        numbers: [false, false],
        rows: block.facts.map(([name, spans]) => [
          { runs: runs([{ text: name }]) },
          { runs: runs(spans) },
        ]),
      });
    case "table":
      return tableBlock({
        heads: block.heads.map((head) => cleanText(head)),
        columns: block.heads.map(() => "auto"),
        numbers: block.heads.map(() => false),
        rows: block.rows.map((row) => row.map((spans) => ({ runs: runs(spans) }))),
      });
  }
}

function tableBlock(table: PdfTable): PdfBlock {
  return { kind: "table", ...table };
}

function figureBlock(
  { number, figure: { name, caption, content } }: Extract<Block, { kind: "figure" }>,
  svg: string | undefined,
): PdfBlock {
  const shared = {
    kind: "figure",
    label: `figure-${number}`,
    caption: cleanText(`Figure ${number}: ${caption}`),
    origin: `${name}.origin.json`,
    about: `Where figure ${number} comes from`,
  };
  if (svg !== undefined && content instanceof Chart) {
    const { width, height } = svgSize(svg);
    const { description } = content.spec;
    return {
      ...shared,
      picture: `${name}.svg`,
      width: width * POINTS_PER_PIXEL,
      height: height * POINTS_PER_PIXEL,
      alt: cleanText(typeof description === "string" ? description : caption),
    };
  }
  if (content instanceof Chart) return shared;
  return {
    ...shared,
    table: dataTable(content.model),
    notes: cleanText(content.model.notes.join(" ")),
  };
}

function dataTable({ columns, rows }: TableModel): PdfTable {
  return {
    heads: columns.map(({ title }) => cleanText(title)),
    columns: columns.map(() => "auto"),
    numbers: columns.map(({ number }) => number),
    rows: rows.map((row) =>
      row.map(({ text, bar }) => ({ runs: runs([{ text }]), ...(bar !== undefined && { bar }) })),
    ),
  };
}

function runs(spans: readonly Span[]): Run[] {
  return spans.map((span) => ({
    text: inLine(span.text),
    ...("link" in span && { to: span.link }),
    ...("figure" in span && { figure: span.text.toLowerCase().replace(" ", "-") }),
  }));
}

/** Clean text; spaces between runs stay. */
function inLine(text: string): string {
  const clean = cleanText(text);
  if (clean === "") return text === "" ? "" : " ";
  return `${/^\s/.test(text) ? " " : ""}${clean}${/\s$/.test(text) ? " " : ""}`;
}

/** The title, cut to the line that it has. */
function footOf(title: string): string {
  let foot = title;
  while (textWidth(foot, FOOT.size) > FOOT.width) foot = `${foot.slice(0, -2)}…`;
  return foot;
}
