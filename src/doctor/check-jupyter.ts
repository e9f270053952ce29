import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Check } from "./check.js";

const run = promisify(execFile);

/** Asks Jupyter for its frontends. */
export async function checkJupyter(program = "jupyter"): Promise<Check> {
  const name = "Jupyter";
  try {
    const { stdout } = await run(program, ["--version"], { timeout: 60_000 });
    const frontends = [...stdout.matchAll(/^(jupyterlab|notebook)\s*:\s*(\d\S*)$/gm)];
    if (frontends.length > 0) {
      const found = frontends.map(([, frontend, version]) => `${frontend} ${version}`).join(", ");
      return { name, state: "ok", found };
    }
    return { name, state: "advice", found: "neither JupyterLab nor Notebook", remedy };
  } catch {
    return { name, state: "advice", found: "no jupyter on the PATH", remedy };
  }
}

const remedy =
  "To edit notebooks, install one: pip install jupyterlab (or use VS Code). npx probelab run works without.";
