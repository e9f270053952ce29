import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * Starts the kernel of the probelab in the notebook's folder, or else its own, so that a notebook runs on the
 * version that its project depends on. Keep the name and the place of
 * `kernel-main.js`: other versions look for it.
 */
async function launch(connectionFile: string | undefined): Promise<void> {
  if (connectionFile === undefined) {
    process.stderr.write("Can't start the kernel: Jupyter gives it a connection file.\n");
    process.exitCode = 2;
    return;
  }
  const { startKernel } = (await import(kernelOf(process.cwd()))) as {
    startKernel: (connectionFile: string) => Promise<void>;
  };
  await startKernel(connectionFile);
}

function kernelOf(folder: string): string {
  const own = join(dirname(fileURLToPath(import.meta.url)), "kernel-main.js");
  try {
    const local = createRequire(join(folder, "cell.js")).resolve("probelab/package.json");
    const kernel = join(dirname(local), "dist", "kernel", "kernel-main.js");
    return pathToFileURL(existsSync(kernel) ? kernel : own).href;
  } catch {
    return pathToFileURL(own).href;
  }
}

await launch(process.argv[2]);
