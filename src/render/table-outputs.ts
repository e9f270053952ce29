import { escapeXml } from "../base/xml.js";

/** A cell: its text, how long its bar is, from 0 to 1, and the values of its line. */
export interface TableCell {
  readonly text: string;
  readonly bar?: number;
  /** From 0 to 1, the scale of all rows; null is a gap. */
  readonly line?: readonly (number | null)[];
}

/** A table as any format shows it. */
export interface TableModel {
  readonly caption: string;
  readonly columns: readonly { readonly title: string; readonly number: boolean }[];
  /** Number of leading columns that name their row. */
  readonly heads: number;
  readonly rows: readonly (readonly TableCell[])[];
  /** The sums below the rows, where there are any. */
  readonly totals?: readonly TableCell[];
  /** Notes on what the rows leave out, a sentence each. */
  readonly notes: readonly string[];
}

const BAR_WIDTH = 80;
const BAR_COLOUR = "%234a90c2"; // #4a90c2, readable on white and on black

/** A table as HTML that every frontend shows alike, trusted or not: no script, style or class. */
export function tableHtml({ caption, columns, heads, rows, totals, notes }: TableModel): string {
  const align = (number = false): string => ` align="${number ? "right" : "left"}"`;
  const head = columns.map(
    ({ title, number }) => `<th scope="col"${align(number)}>${htmlText(title)}</th>`,
  );
  const body = rows.map((cells) => {
    const written = cells.map((cell, at) =>
      at < heads
        ? `<th scope="row" align="left">${htmlText(cell.text)}</th>`
        : `<td nowrap="nowrap"${align(columns[at]?.number)}>${htmlText(cell.text)}${htmlBar(cell)}${htmlLine(cell)}</td>`,
    );
    return `<tr>${written.join("")}</tr>\n`;
  });
  const sums = totals?.map(({ text }, at) => {
    const tag = at < heads ? "th" : "td";
    return `<${tag}${align(columns[at]?.number)}><b>${htmlText(text)}</b></${tag}>`;
  });
  const foot = sums === undefined ? "" : `<tfoot><tr>${sums.join("")}</tr></tfoot>\n`;
  const below = notes.map(htmlText).join("<br/>");
  return [
    `<table>
${
  caption === ""
    ? ""
    : `<caption>${htmlText(caption)}</caption>
`
}`,
    `<thead><tr>${head.join("")}</tr></thead>
<tbody>
${body.join("")}</tbody>
${foot}</table>
`,
    below === "" ? "" : `<p><small>${below}</small></p>\n`,
  ].join("");
}

/**
 * Text for an element of an HTML output. Notebooks typeset TeX in them, whose \href can run
 * scripts: an element around each $ and \ keeps it from being found.
 */
export function htmlText(text: string): string {
  return escapeXml(text).replace(/[$\\]/g, "<span>$&</span>");
}

function htmlBar({ bar }: TableCell): string {
  if (bar === undefined) return "";
  const length = Math.round(bar * BAR_WIDTH * 10) / 10;
  const svg = `%3Csvg xmlns='http://www.w3.org/2000/svg' width='${BAR_WIDTH}' height='10'%3E%3Crect width='${length}' height='10' fill='${BAR_COLOUR}'/%3E%3C/svg%3E`;
  return ` <img alt="" width="${BAR_WIDTH}" height="10" src="data:image/svg+xml,${svg}"/>`;
}

const LINE_HEIGHT = 16;

/** A small line; values between two gaps are dots. */
function htmlLine({ line }: TableCell): string {
  if (line === undefined) return "";
  const step = BAR_WIDTH / Math.max(1, line.length - 1);
  const pieces: string[][] = [[]];
  line.forEach((value, at) => {
    if (value === null) return pieces.push([]);
    const y = 1 + (1 - value) * (LINE_HEIGHT - 2);
    return pieces.at(-1)!.push(`${Math.round(at * step * 10) / 10},${Math.round(y * 10) / 10}`);
  });
  const drawn = pieces
    .filter(({ length }) => length > 0)
    // A line of no length with a round end is a dot.
    .map((piece) => `M${piece.join(" ")}${piece.length === 1 ? "h0" : ""}`);
  const svg = `%3Csvg xmlns='http://www.w3.org/2000/svg' width='${BAR_WIDTH}' height='${LINE_HEIGHT}'%3E%3Cpath d='${drawn.join("")}' fill='none' stroke='${BAR_COLOUR}' stroke-width='1.5' stroke-linecap='round'/%3E%3C/svg%3E`;
  return ` <img alt="" width="${BAR_WIDTH}" height="${LINE_HEIGHT}" src="data:image/svg+xml,${svg}"/>`;
}

const BAR_CHARACTERS = 10;
const NO_BREAK = "\u00a0";
const LEVELS = "▁▂▃▄▅▆▇█";
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A table as GitHub-flavoured Markdown, bars as block characters. */
export function tableMarkdown({ caption, columns, rows, totals, notes }: TableModel): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  return [
    caption === "" ? "" : `${markdownText(caption)}\n\n`,
    line(columns.map(({ title }) => markdownText(title))),
    line(columns.map(({ number }) => (number ? "--:" : ":--"))),
    ...rows.map((cells) => line(cells.map(markdownCell))),
    ...(totals === undefined
      ? []
      : [line(totals.map(({ text }) => (text === "" ? "" : `**${markdownText(text)}**`)))]),
    ...(notes.length > 0 ? [`\n${notes.map(markdownText).join(" ")}\n`] : []),
  ].join("");
}

/** Text that Markdown shows as it is: no emphasis, link, image, HTML, TeX or table cell begins in it. */
export function markdownText(text: string): string {
  return text
    .replace(/[\r\n]+/g, " ")
    .replace(/[\\`*_{}[\]()#|~!$]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/** A cell's text; beside a bar it is a number, which no line may break in. */
function markdownCell({ text, bar, line }: TableCell): string {
  if (line !== undefined) {
    const blocks = line.map((value) => (value === null ? "\u2003" : LEVELS[Math.round(value * 7)]));
    return `${markdownText(text)} ${blocks.join("")}`;
  }
  if (bar === undefined) return markdownText(text);
  const eighths = Math.round(bar * BAR_CHARACTERS * 8);
  const blocks = "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
  // Filled up, so that bars begin below each other in a right-aligned column.
  const rest = "\u2003".repeat(Math.max(0, BAR_CHARACTERS - Math.ceil(eighths / 8)));
  return `${markdownText(text).replaceAll(" ", NO_BREAK)}${NO_BREAK}${blocks}${rest}`;
}
