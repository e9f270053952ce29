// Makes docs/examples/postmortem: the notebook postmortem.ipynb on a sample of the size that
// `npm start` makes, ending on 1 May 2026.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const example = join(root, "docs", "examples", "postmortem");
// In a project of its own the database is the default there: `embedded:.probelab`, no path.
const folder = mkdtempSync(join(tmpdir(), "probelab-example-"));
try {
  writeFileSync(join(folder, "package.json"), "{}");
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "probelab"), "junction");
  const notebook = join(folder, "postmortem.ipynb");
  cpSync(join(root, "notebooks", "postmortem.ipynb"), notebook);
  probelab("sample", "--rows", "5000000", "--end", "2026-05-01");
  probelab("run", notebook, "--out", "out");
  rmSync(example, { recursive: true, force: true });
  cpSync(join(folder, "out", "postmortem"), example, { recursive: true });
} finally {
  // The server writes until it notices that its last user has gone.
  rmSync(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 });
}

function probelab(...given) {
  const environment = { ...process.env, TZ: "UTC" };
  for (const name of Object.keys(environment)) {
    if (name.startsWith("PROBELAB_")) delete environment[name];
  }
  const { status } = spawnSync(process.execPath, [join(root, "dist", "cli", "main.js"), ...given], {
    cwd: folder,
    env: environment,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`probelab ${given.join(" ")} ended with ${status}`);
}
