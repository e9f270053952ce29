import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { CellCompiler } from "../../src/kernel/check.js";
import { CellScripts } from "../../src/kernel/scripts.js";
import { runNotebook } from "../../src/kernel/run-notebook.js";
import { notebookFolder, outputTexts, writeCells } from "../kernel/notebook-fixture.js";

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

/** The code that comes before a page's examples. */
async function before(text: string): Promise<string[]> {
  const guide = examplesOf(await readFile(join(root, "docs", "guide.md"), "utf8"));
  return AFTER_THE_GUIDE.test(text) ? [guide[0]!.code] : [];
}

/** A page after its examples ran. */
export interface Doc {
  readonly text: string;
  readonly examples: readonly DocExample[];
  readonly folder: string;
  /** The plain texts that each example showed. */
  readonly shown: readonly string[];
  /** What the first example that holds the code showed. */
  readonly output: (code: string) => string | undefined;
}

const compiler = new CellCompiler(root, new CellScripts());

/** TypeScript's objections to a page's examples, as the cells of a notebook of their own. */
export async function objections(page: string): Promise<string[]> {
  const text = await readFile(join(root, page), "utf8");
  const codes = [...(await before(text)), ...examplesOf(text).map(({ code }) => code)];
  const cells = codes.map((code, at) => ({ name: `cell-${at + 1}`, code }));
  const found = await compiler.check(cells);
  return found.map(({ index, objection }) => `${codes[index]}: ${JSON.stringify(objection)}`);
}

/** Runs every `ts` example of pages, in order, as the cells of one notebook, all of which must end well. */
export async function runDocs(
  pages: readonly string[],
  options: { last?: string; prepare?: ((folder: string) => Promise<void>) | undefined } = {},
) {
  const codes: string[] = [];
  const parts: { text: string; examples: DocExample[]; from: number }[] = [];
  for (const page of pages) {
    const text = await readFile(join(root, page), "utf8");
    const examples = examplesOf(text);
    codes.push(...(await before(text)));
    parts.push({ text, examples, from: codes.length });
    codes.push(...examples.map(({ code }) => code));
  }
  if (options.last !== undefined) codes.push(options.last);
  const folder = await notebookFolder();
  try {
    await options.prepare?.(folder.path);
    const path = await writeCells(folder.path, codes, "docs.ipynb");
    const outcome = await runNotebook(path, { out: join(folder.path, "out") });
    expect(outcome.message).toBeUndefined();
    expect(outcome).toMatchObject({ status: "ok", cells: codes.length });
    const all = (await outputTexts(outcome.notebook)).map((outputs) => outputs.join("\n"));
    const docs = parts.map(({ text, examples, from }): Doc => {
      const shown = all.slice(from, from + examples.length);
      const output = (code: string) => shown[examples.findIndex((each) => each.code.includes(code))];
      return { text, examples, folder: folder.path, shown, output };
    });
    return { docs, [Symbol.asyncDispose]: folder.remove };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

/**
 * Runs every `ts` example of a page as a reader would, after the guide's first cell where the page says so.
 *
 * @param options `last`: a cell after them, which is no example; `prepare`: files in the notebook's folder.
 */
export async function runDoc(page: string, options: Parameters<typeof runDocs>[1] = {}) {
  const { docs, ...run } = await runDocs([page], options);
  return { ...docs[0]!, ...run };
}
