import { Command } from "commander";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { pngPicture } from "../render/png.js";
import { installedKernels } from "../notebook/kernel/kernelspec.js";
import { kernelName } from "../notebook/own-package.js";
import { checkDatabase, checkTables, type Check } from "./doctor-database.js";
import { line } from "./terminal.js";

const marks = { ok: "ok    ", advice: "advice", failure: "FAILED" };

/** `probelab doctor` */
export const doctorCommand = new Command("doctor")
  .description("Check Node, kernel, Jupyter, database and fonts, and say what to do")
  .addHelpText("after", "\nExits with 1 where something failed; advice is no failure.")
  .action(async () => {
    for await (const { name, state, found, remedy } of examine()) {
      process.stdout.write(`${marks[state]}  ${name.padEnd(9)} ${line(found)}\n`);
      if (remedy !== undefined) process.stdout.write(`${" ".repeat(18)}${line(remedy)}\n`);
      if (state === "failure") process.exitCode = 1;
    }
  });

/** Looks at all that probelab needs, one after the other. */
async function* examine(): AsyncGenerator<Check, void, undefined> {
  yield checkNode();
  yield checkKernel();
  yield await checkJupyter();
  const database = await checkDatabase();
  yield database;
  if (database.state !== "failure") yield* checkTables();
  yield await checkFonts();
}

/** Node 20.19 is the first that loads ES modules by `require`, which cells need. */
export function checkNode(version = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const name = "Node";
  return major > 20 || (major === 20 && minor >= 19)
    ? { name, state: "ok", found: version }
    : { name, state: "failure", found: version, remedy: "Install Node 20.19 or newer." };
}

/** Looks whether Jupyter finds the kernel, and whether what it starts is still there. */
export function checkKernel(environment: NodeJS.ProcessEnv = process.env): Check {
  const name = "Kernel";
  const kernel = installedKernels(environment).find((one) => one.name === kernelName);
  if (!kernel) {
    return {
      name,
      state: "advice",
      found: "not installed",
      remedy:
        "To use it in Jupyter, run npx probelab kernel install. npx probelab run works without.",
    };
  }
  const missing = kernel.argv
    .filter((part) => /[\\/]/.test(part))
    .find((path) => !existsSync(path));
  return missing === undefined && kernel.argv.length > 0
    ? { name, state: "ok", found: kernel.folder }
    : {
        name,
        state: "failure",
        found: `${kernel.folder} starts ${missing ?? "nothing"}, which is not there`,
        remedy: "Run npx probelab kernel install again; Node or probelab was moved since.",
      };
}

/** Asks Jupyter for its frontends. */
export async function checkJupyter(program = "jupyter"): Promise<Check> {
  const name = "Jupyter";
  try {
    const { stdout } = await promisify(execFile)(program, ["--version"], { timeout: 60_000 });
    const frontends = [...stdout.matchAll(/^(jupyterlab|notebook)\s*:\s*(\d\S*)$/gm)];
    if (frontends.length > 0) {
      const found = frontends.map(([, frontend, version]) => `${frontend} ${version}`).join(", ");
      return { name, state: "ok", found };
    }
    return { name, state: "advice", found: "neither JupyterLab nor Notebook", remedy: noJupyter };
  } catch {
    return { name, state: "advice", found: "no jupyter on the PATH", remedy: noJupyter };
  }
}

const noJupyter =
  "To edit notebooks, install one: pip install jupyterlab (or use VS Code). npx probelab run works without.";

/** Draws a text as charts do: a picture without its font loses all its text, silently. */
export async function checkFonts(): Promise<Check> {
  const name = "Fonts";
  const remedy =
    "Run npm install anew: @expo-google-fonts/arimo or @resvg/resvg-js is missing or damaged.";
  try {
    const [text, none] = await Promise.all([draw("probelab"), draw(" ")]);
    return text.equals(none)
      ? { name, state: "failure", found: "pictures come without their text", remedy }
      : { name, state: "ok", found: "the shipped font draws text in pictures" };
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return { name, state: "failure", found, remedy };
  }
}

function draw(text: string): Promise<Buffer> {
  const spec = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: 100,
    height: 20,
    data: { values: [{}] },
    mark: "text",
    encoding: { text: { value: text } },
  };
  return pngPicture(spec, 1);
}
