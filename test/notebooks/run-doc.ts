import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { runNotebook } from "../../src/notebook/run-notebook.js";
import { notebookFolder, outputTexts, writeCells } from "../notebook/notebook-fixture.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The pages whose examples a reader runs: the README and every page of docs/. */
export const PAGES: readonly string[] = [
  "README.md",
  ...readdirSync(join(root, "docs")).flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : [])),
];

/** What a page says where its examples need the guide's first cell; all others stand alone. */
const AFTER_THE_GUIDE = /after the first cell of the \[guide\]\((docs\/)?guide\.md\)/i;

/** An example of a page: its code, and the output that stands below it. */
export interface DocExample {
  readonly code: string;
  readonly output: string | undefined;
}

/** The `ts` examples of a page, in order. */
export function examplesOf(text: string): DocExample[] {
  return [...text.matchAll(/```ts\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs)].map(
    ([, code = "", output]) => ({ code, output }),
  );
}

/**
 * Runs every `ts` example of a page as a reader would, in order, as the cells of one notebook, all of which
 * must end well; after the guide's first cell where the page says so.
 *
 * @param options `last`: a cell after them, which is no example; `prepare`: files in the notebook's folder.
 */
export async function runDoc(
  page: string,
  options: { last?: string; prepare?: ((folder: string) => Promise<void>) | undefined } = {},
) {
  const text = await readFile(join(root, page), "utf8");
  const examples = examplesOf(text);
  const guide = examplesOf(await readFile(join(root, "docs", "guide.md"), "utf8"));
  const before = AFTER_THE_GUIDE.test(text) ? [guide[0]!.code] : [];
  const after = options.last === undefined ? [] : [options.last];
  const codes = [...before, ...examples.map(({ code }) => code), ...after];
  const folder = await notebookFolder();
  try {
    await options.prepare?.(folder.path);
    const path = await writeCells(folder.path, codes, "docs.ipynb");
    const outcome = await runNotebook(path, { out: join(folder.path, "out") });
    expect(outcome.message).toBeUndefined();
    expect(outcome).toMatchObject({ status: "ok", cells: codes.length });
    const shown = (await outputTexts(outcome.notebook))
      .slice(before.length)
      .map((outputs) => outputs.join("\n"));
    return {
      text,
      examples,
      folder: folder.path,
      notebook: outcome.notebook,
      /** The plain texts that each example showed. */
      shown,
      /** What the first example that holds the code showed. */
      output: (code: string) => shown[examples.findIndex((each) => each.code.includes(code))],
      [Symbol.asyncDispose]: folder.remove,
    };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}
