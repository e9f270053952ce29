import { Command } from "commander";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { writeWhole } from "../files/write-whole.js";
import { readNotebook } from "../notebook/notebook-file.js";
import { NOTEBOOKS, runOnSample, type SampleRun } from "./start.js";
import { line, wholeNumber } from "./terminal.js";

/** `probelab example [NAME]`: the notebooks of the package, for a project that has it as a dependency. */
export const exampleCommand = new Command("example")
  .description("write a notebook of the package into this folder, to run and to change")
  .argument("[name]", "which one; without a name they are listed")
  .option("--run", "run it, too; an embedded database that is empty is filled with a sample first")
  .option("--out <dir>", "folder for what the run writes", "out")
  .option("--rows <n>", "measurements of a sample that has to be made", wholeNumber, 5_000_000)
  .action(async (name: string | undefined, options: SampleRun & { run?: true }) => {
    const names = (await readdir(NOTEBOOKS)).flatMap(
      (file) => /^(.*)\.ipynb$/.exec(file)?.[1] ?? [],
    );
    if (name === undefined) {
      for (const each of names) console.log(`${each.padEnd(30)}  ${await titleOf(each)}`);
      return;
    }
    if (!names.includes(name)) {
      const near = nearName(name, names);
      throw new ProbelabError(
        `Can't write the example "${name}": there is none of that name. ${near ? `Did you mean ${near}?` : `There are ${names.join(", ")}.`}`,
      );
    }
    const path = `${name}.ipynb`;
    const content = await readFile(new URL(path, NOTEBOOKS), "utf8");
    if (existsSync(path) && (await readFile(path, "utf8")) !== content) {
      throw new ProbelabError(
        `Can't write ${path}: one that differs is there already. Rename it, or run it as it is with npx probelab run ${path}.`,
      );
    }
    await writeWhole(path, content);
    console.error(`Wrote ${line(resolve(path))}`);
    if (options.run) await runOnSample(path, options);
    else
      console.log(
        `npx probelab example ${name} --run   # or: npx probelab run ${path}, in Jupyter with the kernel probelab`,
      );
  });

/** The heading that the notebook begins with. */
async function titleOf(name: string): Promise<string> {
  const { cells } = await readNotebook(fileURLToPath(new URL(`${name}.ipynb`, NOTEBOOKS)));
  return /^# (.*)$/m.exec(cells[0]?.source ?? "")?.[1] ?? "";
}
