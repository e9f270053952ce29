import { writeWhole } from "../files/write-whole.js";
import { escapeHtml } from "./escape-html.js";
import { markdownHtml } from "./markdown-html.js";
import type { Notebook, NotebookCell, TextCell } from "./notebook-file.js";
import { outputHtml } from "./output-html.js";
import { ownPackage } from "./own-package.js";
import { isInjected } from "./parameters.js";
import { pageStyle } from "./page-style.js";

/** No script, no request, nothing from elsewhere: what stands in the file is all there is. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'";

/** Writes an executed notebook as one page that needs no network. */
export async function writeNotebookPage(
  path: string,
  notebook: Notebook,
  name: string,
): Promise<void> {
  await writeWhole(path, notebookPage(notebook, name));
}

/**
 * An executed notebook as a self-contained HTML page: texts, code and outputs, without scripts. Cells tagged
 * `hide-input` are shown without their code, cells tagged `remove-cell` not at all.
 */
export function notebookPage(notebook: Notebook, name: string): string {
  const title = titleOf(notebook) ?? name;
  const cells = notebook.cells.map(cellHtml).filter((html) => html !== "");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${pageStyle}</style>
</head>
<body>
<main>
${cells.join("\n")}
<footer>Made by probelab ${ownPackage().version} on ${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC from ${escapeHtml(name)}.ipynb.</footer>
</main>
</body>
</html>
`;
}

function cellHtml(cell: NotebookCell): string {
  const tags = cell.metadata.tags ?? [];
  if (tags.includes("remove-cell")) return "";
  if (cell.cell_type === "markdown") {
    return `<section class="text">${markdownHtml(withAttachments(cell))}</section>`;
  }
  if (cell.cell_type !== "code" || cell.source.trim() === "") return "";
  const open = tags.includes("hide-input") ? "" : " open";
  const count = cell.execution_count === null ? "not run" : `${cell.execution_count}`;
  const label = isInjected(cell) ? "Code, parameters of this run" : `Code, cell ${count}`;
  const source = `<details class="source"${open}><summary>${label}</summary><pre tabindex="0"><code>${escapeHtml(cell.source)}</code></pre></details>`;
  return `<section class="cell">${source}${cell.outputs.map(outputHtml).join("")}</section>`;
}

/** Pictures that are attached to a text cell, in its text. */
function withAttachments(cell: TextCell): string {
  return cell.source.replace(/\(attachment:([^)\s]+)\)/g, (whole, name: string) => {
    const [type, data] = Object.entries(cell.attachments?.[name] ?? {})[0] ?? [];
    return type && data ? `(data:${type};base64,${data})` : whole;
  });
}

function titleOf(notebook: Notebook): string | undefined {
  for (const cell of notebook.cells) {
    if (cell.cell_type !== "markdown") continue;
    const heading = /^#\s+(.+)$/m.exec(cell.source)?.[1];
    if (heading !== undefined) return heading.replace(/[*_`]/g, "").trim();
  }
  return undefined;
}
