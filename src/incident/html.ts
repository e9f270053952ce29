import markdownIt from "markdown-it";
import { escapeXml } from "../base/xml.js";
import { Chart, chartFigure, pageDocument, tableFigure } from "../chart/page.js";
import type { Block, FigureBlock } from "./document.js";

const STYLE = `
main { overflow-wrap: break-word; }
main > p, main > ul { max-width: 46rem; }
.checklist { list-style: none; padding-left: 0; }
.checklist li { padding-left: 1.6rem; text-indent: -1.6rem; }
.checklist .mark { display: inline-block; width: 1.6rem; text-indent: 0; }
.checklist .open { color: var(--error); font-weight: bold; }
.table { overflow-x: auto; }
.table td { overflow-wrap: anywhere; min-width: 6rem; }
.table td:nth-child(2), .table td:first-child { min-width: 10rem; }
.shown h3 { margin-bottom: 0.2em; }
main > p:last-child { margin-top: 3rem; padding-top: 0.8rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.8rem; max-width: none; }
@page { margin: 15mm; }
@media print {
  h1, h2, h3, main > ul:has(+ .shown) { break-after: avoid; } .shown, figure, tr { break-inside: avoid; }
  tbody tr:first-child { break-after: avoid; } tbody tr:last-child { break-before: avoid; }
  .table td { min-width: 5rem; }
}
`;

const MARKS = {
  x: '<span class="mark" role="img" aria-label="done">✓</span>',
  " ": '<span class="mark open" role="img" aria-label="open">✗</span>',
};

const markdown = markdownIt({ html: false, linkify: false, typographer: false });
// Addresses stand as they were written: encoded by markdown-it, some would lead elsewhere.
markdown.normalizeLink = (link) => link;
// Where a link to the web leads, nothing is learned of this page.
markdown.renderer.rules["link_open"] = (tokens, at, options, _, self) => {
  const [token] = tokens.slice(at);
  if (/^https?:/i.test(String(token?.attrGet("href")))) {
    token?.attrSet("rel", "noopener noreferrer");
  }
  return self.renderToken(tokens, at, options);
};

/**
 * Blocks as one HTML page: their Markdown, with live charts. It is whole in itself and asks nothing of
 * any address; the files of its figures stand beside it.
 */
export async function documentHtml(title: string, blocks: readonly Block[]): Promise<string> {
  const parts: string[] = [];
  for (const block of blocks) parts.push(await blockHtml(block));
  return pageDocument({ title, body: parts.join("\n"), theme: "light", style: STYLE });
}

async function blockHtml(block: Block): Promise<string> {
  if (typeof block !== "string") return figureHtml(block);
  const html = markdown.render(block);
  if (block.startsWith("| ")) return `<div class="table">${html}</div>`;
  if (!/^- \[[x ]\] /.test(block)) return html;
  return html
    .replace("<ul>", '<ul class="checklist">')
    .replace(/<li>\[(x| )\] /g, (_, mark: "x" | " ") => `<li>${MARKS[mark]}`);
}

async function figureHtml({ number, caption, figure }: FigureBlock): Promise<string> {
  const { name, content } = figure;
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
<h3>Figure ${number}${caption === "" ? "" : `: ${escapeXml(caption)}`}</h3>
${shown}
<p><small>Files: ${files.join(", ")}</small></p>
</section>`;
}
