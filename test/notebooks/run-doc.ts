import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { runNotebook } from "../../src/notebook/run-notebook.js";
import { notebookFolder, outputTexts, writeCells } from "../notebook/notebook-fixture.js";

/** An example of a document: its code, and the output that stands below it. */
export interface DocExample {
  readonly code: string;
  readonly output: string | undefined;
}

/**
 * Runs every `ts` example of a page of docs/, in order, as the cells of one notebook, all of which must end well.
 *
 * @param options `first`: a cell before them, which is no example; `prepare`: files in the notebook's folder.
 */
export async function runDoc(
  name: string,
  options: { first?: string; prepare?: (folder: string) => Promise<void> } = {},
) {
  const { first, prepare } = options;
  const text = await readFile(new URL(`../../docs/${name}`, import.meta.url), "utf8");
  const examples = [...text.matchAll(/```ts\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs)].map(
    ([, code = "", output]): DocExample => ({ code, output }),
  );
  const folder = await notebookFolder();
  try {
    await prepare?.(folder.path);
    const before = first === undefined ? [] : [first];
    const codes = [...before, ...examples.map(({ code }) => code)];
    const path = await writeCells(folder.path, codes, "docs.ipynb");
    const outcome = await runNotebook(path, { out: join(folder.path, "out") });
    expect(outcome.message).toBeUndefined();
    expect(outcome).toMatchObject({ status: "ok", cells: codes.length });
    return {
      text,
      examples,
      folder: folder.path,
      notebook: outcome.notebook,
      /** The plain texts that each example showed. */
      shown: (await outputTexts(outcome.notebook))
        .slice(before.length)
        .map((outputs) => outputs.join("\n")),
      [Symbol.asyncDispose]: folder.remove,
    };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}
