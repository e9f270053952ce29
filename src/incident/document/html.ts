import { escapeXml } from "../../base/xml.js";
import { Chart } from "../../chart/chart-value.js";
import { chartFigure, tableFigure } from "../../render/page/figures.js";
import { pageDocument } from "../../render/page/page-document.js";
import type { Figure } from "../figure.js";
import type { Block, Spans } from "./document.js";

const STYLE = `
main { overflow-wrap: break-word; }
main > p, main > ul { max-width: 46rem; }
.facts th { font-weight: normal; color: var(--soft); padding-left: 0; white-space: nowrap; }
.facts td, .facts th { border: 0; padding-top: 0.1rem; padding-bottom: 0.1rem; }
.checklist { list-style: none; padding-left: 0; }
.checklist li { padding-left: 1.6rem; text-indent: -1.6rem; }
.checklist .mark { display: inline-block; width: 1.6rem; text-indent: 0; }
.checklist .open { color: var(--error); font-weight: bold; }
.facts td, .overview td { overflow-wrap: anywhere; }
.overview td { min-width: 6rem; }
.events td:first-child { white-space: nowrap; }
.events td:nth-child(2), .tasks td:first-child { min-width: 14rem; }
.shown h3 { margin-bottom: 0.2em; }
.table { overflow-x: auto; }
main > p:last-child { margin-top: 3rem; padding-top: 0.8rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.8rem; max-width: none; }
@page { margin: 15mm; }
@media print {
  h1, h2, h3, main > ul:has(+ .shown) { break-after: avoid; } .shown, figure, tr { break-inside: avoid; }
  tbody tr:first-child { break-after: avoid; } tbody tr:last-child { break-before: avoid; }
  .overview td { min-width: 5rem; } .events td:nth-child(2), .tasks td:first-child { min-width: 10rem; }
}
`;

/**
 * Blocks as one HTML page: charts live, whole in itself, nothing asked of any address.; the files of its figures stand beside it.
 */
export async function documentHtml(title: string, blocks: readonly Block[]): Promise<string> {
  const parts: string[] = [];
  for (const block of blocks) parts.push(await blockHtml(block));
  return pageDocument({ title, body: parts.join("\n"), theme: "light", style: STYLE });
}

async function blockHtml(block: Block): Promise<string> {
  switch (block.kind) {
    case "heading":
      return `<h${block.level}>${escapeXml(block.text)}</h${block.level}>`;
    case "paragraph":
      return `<p>${inline(block.spans)}</p>`;
    case "list":
      return `<ul>${block.items.map((item) => `<li>${inline(item)}</li>`).join("")}</ul>`;
    case "checklist":
      return `<ul class="checklist">${block.items.map(checkHtml).join("")}</ul>`;
    case "facts":
      return `<table class="facts"><tbody>${block.facts
        .map(
          ([name, value]) =>
            `<tr><th scope="row">${inline(name)}</th><td>${inline(value)}</td></tr>`,
        )
        .join("")}</tbody></table>`;
    case "table":
      return `<div class="table"><table class="overview ${block.heads[0] === "Time (UTC)" ? "events" : "tasks"}"><thead><tr>${block.heads
        .map((head) => `<th scope="col">${escapeXml(head)}</th>`)
        .join("")}</tr></thead><tbody>${block.rows
        .map((row) => `<tr>${row.map((cell) => `<td>${inline(cell)}</td>`).join("")}</tr>`)
        .join("")}</tbody></table></div>`;
    case "figure":
      return figureHtml(block.number, block.caption, block.figure);
  }
}

function checkHtml({ done, spans }: { done: boolean; spans: Spans }): string {
  const mark = done
    ? '<span class="mark" role="img" aria-label="done">✓</span>'
    : '<span class="mark open" role="img" aria-label="open">✗</span>';
  return `<li>${mark}${inline(spans)}</li>`;
}

async function figureHtml(
  number: number,
  said: string,
  { name, content }: Figure,
): Promise<string> {
  const shown =
    content instanceof Chart
      ? await chartFigure(content, `chart-${number}`)
      : tableFigure(content, `table-${number}`);
  const files = [
    ["CSV", `data/${name}.csv`],
    ["Parquet", `data/${name}.parquet`],
    ["query", `queries/${name}.sql`],
  ].map(([text, path]) => `<a href="${path}">${text}</a>`);
  return `<section class="shown" id="figure-${number}">
<h3>Figure ${number}${said === "" ? "" : `: ${escapeXml(said)}`}</h3>
${shown}
<p><small>Files: ${files.join(", ")}</small></p>
</section>`;
}

function inline(spans: Spans): string {
  return spans
    .map((span) => {
      const text = escapeXml(span.text);
      if ("link" in span) {
        return `<a href="${escapeXml(span.link)}" rel="noopener noreferrer">${text}</a>`;
      }
      if ("figure" in span) return `<a href="#figure-${span.figure}">${text}</a>`;
      return text;
    })
    .join("");
}
