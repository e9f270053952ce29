import type { TableCell, TableModel } from "./table-model.js";

const BAR_CHARACTERS = 10;
const NO_BREAK = "\u00a0";
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A table as GitHub-flavoured Markdown, bars as block characters. */
export function tableMarkdown({ caption, columns, rows, notes }: TableModel): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  return [
    `${markdownText(caption)}\n\n`,
    line(columns.map(({ title }) => markdownText(title))),
    line(columns.map(({ number }) => (number ? "--:" : ":--"))),
    ...rows.map((cells) => line(cells.map((cell) => `${joined(cell)}${bar(cell)}`))),
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
function joined({ text, bar }: TableCell): string {
  return bar === undefined ? markdownText(text) : markdownText(text).replaceAll(" ", NO_BREAK);
}

function bar({ bar }: TableCell): string {
  if (bar === undefined) return "";
  const eighths = Math.round(bar * BAR_CHARACTERS * 8);
  const blocks = "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
  // Filled up, so that bars begin below each other in a right-aligned column.
  return `${NO_BREAK}${blocks}${"\u2003".repeat(Math.max(0, BAR_CHARACTERS - Math.ceil(eighths / 8)))}`;
}
