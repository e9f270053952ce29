import { existsSync } from "node:fs";
import { installedKernels } from "../notebook/kernel/kernelspec.js";
import { kernelName } from "../notebook/language-info.js";
import type { Check } from "./check.js";

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
