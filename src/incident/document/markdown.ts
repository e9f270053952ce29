import { Table } from "../../chart/table.js";
import { markdownText } from "../../render/table-outputs.js";
import type { Figure } from "../figure.js";
import type { Block, Spans } from "./document.js";

/**
 * Blocks as GitHub-flavoured Markdown. Charts are PNG files in `charts/`, which GitHub shows; every
 * figure links to its data and its query. All text is shown as it is: no HTML, picture or link
 * begins in it that isn't one of the document's own.
 */
export function documentMarkdown(blocks: readonly Block[]): string {
  return `${blocks.map(blockMarkdown).join("\n\n")}\n`;
}

/** Blocks as a notebook shows them while they are being written: figures by their captions only. */
export function previewMarkdown(blocks: readonly Block[]): string {
  return documentMarkdown(
    blocks.map((block): Block => {
      if (block.kind !== "figure") return block;
      const text = `Figure ${block.number}: ${block.figure.caption}`;
      return { kind: "paragraph", spans: [{ text }] };
    }),
  );
}

/** One block. */
export function blockMarkdown(block: Block): string {
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
    case "table":
      return table(block.heads, block.rows);
    case "figure":
      return figureMarkdown(block.number, block.caption, block.figure);
  }
}

function figureMarkdown(number: number, said: string, { name, caption, content }: Figure): string {
  const files = `[data](data/${name}.csv), [Parquet](data/${name}.parquet), [query](queries/${name}.sql)`;
  const [picture, links] =
    content instanceof Table
      ? [content.markdown.trim(), files]
      : [`![${markdownText(caption)}](charts/${name}.png)`, `[SVG](charts/${name}.svg), ${files}`];
  // GitHub makes a heading's id of its words: these give #figure-1.
  const heading = `### Figure ${number}`;
  return [heading, ...(said === "" ? [] : [startless(markdownText(said))]), picture, links].join(
    "\n\n",
  );
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
