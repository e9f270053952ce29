import { Table } from "../../../chart/table.js";
import { markdownText, tableMarkdown } from "../../../render/table-outputs.js";
import type { Block, Spans } from "./document.js";
import { captionless, titleOf, type Figure } from "../figure.js";

/**
 * Blocks as GitHub-flavoured Markdown. Charts are PNG files in `charts/`, which GitHub shows; every
 * figure links to its data and its query. All text is shown as it is: no HTML, picture or link
 * begins in it that isn't one of the document's own.
 */
export function documentMarkdown(blocks: readonly Block[]): string {
  return `${blocks.map(blockMarkdown).join("\n\n")}\n`;
}

/** Blocks as a notebook shows them while they are being written: figures by their names only. */
export function previewMarkdown(blocks: readonly Block[]): string {
  return `${blocks
    .map((block) =>
      block.kind === "figure"
        ? startless(`Figure ${block.number}: ${markdownText(block.figure.caption)}`)
        : blockMarkdown(block),
    )
    .join("\n\n")}\n`;
}

function blockMarkdown(block: Block): string {
  switch (block.kind) {
    case "heading":
      return `${"#".repeat(block.level)} ${markdownText(block.text)}`;
    case "paragraph":
      return startless(inline(block.spans));
    case "list":
      return block.items.map((item) => `- ${startless(inline(item))}`).join("\n");
    case "checklist":
      return block.items
        .map(({ done, spans }) => `- [${done ? "x" : " "}] ${inline(spans)}`)
        .join("\n");
    case "facts":
      return table(["", ""], block.facts);
    case "table":
      return table(block.heads, block.rows);
    case "figure":
      return figureMarkdown(block.number, block.figure);
  }
}

function figureMarkdown(number: number, { name, caption, content }: Figure): string {
  const files = `[data](data/${name}.csv), [Parquet](data/${name}.parquet), [query](queries/${name}.sql)`;
  const isTable = content instanceof Table;
  const picture = isTable
    ? tableMarkdown(captionless(content.model, caption)).trim()
    : `![${markdownText(caption)}](charts/${name}.png)`;
  return [
    // GitHub makes a heading's id of its words: these give #figure-1.
    `### Figure ${number}`,
    // The picture says its title itself.
    ...(isTable || caption !== titleOf(content) ? [startless(markdownText(caption))] : []),
    picture,
    isTable ? files : `[SVG](charts/${name}.svg), ${files}`,
  ].join("\n\n");
}

function table(heads: readonly string[], rows: readonly (readonly Spans[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    line(heads.map(markdownText)),
    line(heads.map(() => ":--")),
    ...rows.map((row) => line(row.map(inline))),
  ].join("\n");
}

/** Text that begins no heading, list or rule. */
function startless(markdown: string): string {
  return markdown
    .replace(/^([-+=])(?=[\s=+-]|$)/, "\\$1")
    .replace(/^(\d+)([.)])(?=\s|$)/, "$1\\$2");
}

function inline(spans: Spans): string {
  return spans
    .map((span) => {
      if ("link" in span) return `[${markdownText(span.text)}](<${address(span.link)}>)`;
      if ("figure" in span) return `[${markdownText(span.text)}](#figure-${span.figure})`;
      return markdownText(span.text);
    })
    .join("");
}

function address(link: string): string {
  // Markdown reads entities in addresses too.
  return link
    .replace(/[<>\s\\]/g, (character) => encodeURIComponent(character))
    .replace(/&(?=#?\w+;)/g, "&amp;");
}
