import { escapeXml } from "../base/xml.js";
import type { TableCell, TableModel } from "./table-model.js";

const BAR_WIDTH = 80;
const BAR_COLOUR = "%234a90c2"; // #4a90c2, readable on white and on black

/**
 * A table as HTML that every frontend shows alike, trusted or not: no script, style or class;
 * bars are pictures in data addresses, which print too.
 */
export function tableHtml({ caption, columns, heads, rows, notes }: TableModel): string {
  const head = columns
    .map(({ title, number }) => `<th scope="col"${align(number)}>${htmlText(title)}</th>`)
    .join("");
  const body = rows.map((cells) => {
    const written = cells.map((cell, at) =>
      at < heads
        ? `<th scope="row" align="left">${htmlText(cell.text)}</th>`
        : `<td nowrap="nowrap"${align(columns[at]?.number ?? false)}>${htmlText(cell.text)}${bar(cell)}</td>`,
    );
    return `<tr>${written.join("")}</tr>\n`;
  });
  const below = notes
    .map((note) => `<br/>${htmlText(note)}`)
    .join("")
    .slice("<br/>".length);
  return [
    `<table>\n<caption>${htmlText(caption)}</caption>\n`,
    `<thead><tr>${head}</tr></thead>\n<tbody>\n${body.join("")}</tbody>\n</table>\n`,
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

function align(number: boolean): string {
  return ` align="${number ? "right" : "left"}"`;
}

function bar({ bar }: TableCell): string {
  if (bar === undefined) return "";
  const length = Math.round(bar * BAR_WIDTH * 10) / 10;
  const svg = `%3Csvg xmlns='http://www.w3.org/2000/svg' width='${BAR_WIDTH}' height='10'%3E%3Crect width='${length}' height='10' fill='${BAR_COLOUR}'/%3E%3C/svg%3E`;
  return ` <img alt="" width="${BAR_WIDTH}" height="10" src="data:image/svg+xml,${svg}"/>`;
}
