import { escapeXml } from "../../base/xml.js";

/** A table as any format shows it. */
export interface TableModel {
  readonly caption: string;
  readonly columns: readonly { readonly title: string; readonly number: boolean }[];
  /** Number of leading columns that name their row. */
  readonly heads: number;
  readonly rows: readonly (readonly string[])[];
  /** Notes on what the rows leave out, a sentence each. */
  readonly notes: readonly string[];
}

/** How text is aligned left in notebooks; pages of ours, which apply no such attribute, do it themselves. */
export const TEXT_STYLE = ' style="text-align:left"';

/** A table as HTML that every frontend shows alike, trusted or not: no script, style or class. */
export function tableHtml({ caption, columns, heads, rows, notes }: TableModel): string {
  // Notebooks align all cells right by their style sheet.
  const align = (number = false): string =>
    number ? ' align="right"' : ` align="left"${TEXT_STYLE}`;
  const head = columns.map(
    ({ title, number }) => `<th scope="col"${align(number)}>${htmlText(title)}</th>`,
  );
  const body = rows.map((cells) => {
    const written = cells.map((cell, at) =>
      at < heads
        ? `<th scope="row"${align()}>${htmlText(cell)}</th>`
        : `<td${columns[at]?.number ? ' nowrap="nowrap"' : ""}${align(columns[at]?.number)}>${htmlText(cell)}</td>`,
    );
    return `<tr>${written.join("")}</tr>\n`;
  });
  const below = notes.map(htmlText).join("<br/>");
  const named = caption === "" ? "" : `<caption>${htmlText(caption)}</caption>\n`;
  return `<table>
${named}<thead><tr>${head.join("")}</tr></thead>
<tbody>
${body.join("")}</tbody>
</table>
${below === "" ? "" : `<p><small>${below}</small></p>\n`}`;
}

/**
 * Text for an element of an HTML output. Notebooks typeset TeX in them, whose \href can run
 * scripts: an element around each $ and \ keeps it from being found.
 */
export function htmlText(text: string): string {
  const whole = text.replace(/(\d) (?=(?:%|pp|s)(?![\p{L}\d]))/gu, "$1\u00a0");
  return escapeXml(whole).replace(/[$\\]/g, "<span>$&</span>");
}

/** A table as GitHub-flavoured Markdown. */
export function tableMarkdown({ caption, columns, rows, notes }: TableModel): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  return [
    caption === "" ? "" : `${markdownText(caption)}\n\n`,
    line(columns.map(({ title }) => markdownText(title))),
    line(columns.map(({ number }) => (number ? "--:" : ":--"))),
    ...rows.map((cells) => line(cells.map(markdownText))),
    ...(notes.length > 0 ? [`\n${notes.map(markdownText).join(" ")}\n`] : []),
  ].join("");
}

/** Text that Markdown shows as it is: no emphasis, link, image, HTML, TeX or table cell begins in it. */
export function markdownText(text: string): string {
  return text
    .replace(/[\r\n]+/g, " ")
    .replace(/[\\`*[\]#|~$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
