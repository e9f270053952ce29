import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { openWriter } from "../../src/database/writer.js";
import { runNotebook } from "../../src/kernel/run-notebook.js";
import { fillSample } from "../../src/sample/fill.js";
import { notebookFolder, outputTexts, readCells, runCells } from "../kernel/notebook-fixture.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

/** What is planted, as the table `sample_truth` tells it. */
export interface Truth {
  /** When it begins, in milliseconds since 1970. */
  readonly begins: number;
  readonly changes: string;
}

const packaged = (name: string) =>
  fileURLToPath(new URL(`../../notebooks/${name}.ipynb`, import.meta.url));

/** A sample of the service in a directory of its own, and its notebooks run on it. */
export async function sampleLab(rows: number, end?: Date) {
  const directory = await temporaryDirectory();
  const writer = await openWriter(directory.source);
  await fillSample(writer, { rows, ...(end && { end }) });
  const before = process.env["PROBELAB_MEASUREMENTS"];
  process.env["PROBELAB_MEASUREMENTS"] = `embedded:${directory.path}`;
  return {
    path: directory.path,
    writer,
    /** The planted fault of that name. */
    async truth(name: string): Promise<Truth> {
      const [truth] = await writer.rows<{ begins: number; changes: string }>(
        "SELECT toUnixTimestamp(released_at) * 1000 AS begins, changes FROM sample_truth WHERE name = {name:String}",
        { parameters: { name } },
      );
      expect(truth, name).toBeDefined();
      return { begins: Number(truth?.begins), changes: truth?.changes ?? "" };
    },
    /** Executes a notebook of the package. @returns the text of each output, printed lines too */
    async run(name: string, params: Record<string, string | number> = {}) {
      const outcome = await runNotebook(packaged(name), { out: join(directory.path, "out"), params });
      expect(outcome.message, name).toBeUndefined();
      expect(outcome.status, name).toBe("ok");
      return (await outputTexts(outcome.notebook)).flat();
    },
    /** Executes notebooks of the package as one, which takes a start for all. @returns what each showed */
    async runAsOne<Name extends string>(names: readonly Name[]): Promise<Record<Name, string>> {
      const folder = await notebookFolder();
      try {
        const codes: string[][] = [];
        for (const name of names) {
          const cells = await readCells(packaged(name));
          codes.push(cells.flatMap((cell) => (cell.cell_type === "code" ? cell.source.join("") : [])));
        }
        const { outcome, outputs } = await runCells(folder.path, codes.flat());
        expect(outcome.message).toBeUndefined();
        const shown = codes.map((each) => outputs.splice(0, each.length).flat().join("\n"));
        return Object.fromEntries(names.map((name, at) => [name, shown[at]])) as Record<Name, string>;
      } finally {
        await folder.remove();
      }
    },
    async [Symbol.asyncDispose]() {
      if (before === undefined) delete process.env["PROBELAB_MEASUREMENTS"];
      else process.env["PROBELAB_MEASUREMENTS"] = before;
      await writer[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}
