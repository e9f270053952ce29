import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runNotebook, type RunOutcome } from "../../src/notebook/run-notebook.js";

/** A notebook of this repository, executed on an embedded database. */
export interface Executed {
  readonly outcome: RunOutcome;
  /** What each output says as plain text, printed lines too. */
  readonly texts: readonly string[];
  readonly errors: number;
}

/** Runs `notebooks/NAME.ipynb` on the embedded database in `directory`; outputs go to `directory`/out. */
export async function executeNotebook(name: string, directory: string): Promise<Executed> {
  const path = fileURLToPath(new URL(`../../notebooks/${name}.ipynb`, import.meta.url));
  const before = process.env["PROBELAB_MEASUREMENTS"];
  process.env["PROBELAB_MEASUREMENTS"] = `embedded:${directory}`;
  try {
    const outcome = await runNotebook(path, { out: join(directory, "out") });
    const { cells } = JSON.parse(readFileSync(outcome.notebook, "utf8")) as Notebook;
    const outputs = cells.flatMap((cell) => cell.outputs ?? []);
    return {
      outcome,
      texts: outputs.map((output) =>
        [output.data?.["text/plain"] ?? output.text ?? []].flat().join(""),
      ),
      errors: outputs.filter((output) => output.output_type === "error").length,
    };
  } finally {
    if (before === undefined) delete process.env["PROBELAB_MEASUREMENTS"];
    else process.env["PROBELAB_MEASUREMENTS"] = before;
  }
}

interface Notebook {
  readonly cells: readonly {
    readonly outputs?: readonly {
      readonly output_type: string;
      readonly text?: string | string[];
      readonly data?: Record<string, string | string[] | undefined>;
    }[];
  }[];
}
