// npm test: types, lint and format side by side, then the tests. `--all` runs the slow ones too.
import { spawn } from "node:child_process";
import { join } from "node:path";

const all = process.argv.includes("--all");
const cache = join("node_modules", ".cache", "probelab");
const tsc = join("node_modules", "typescript-native", "bin", "tsc");
const types = (name, ...args) => [
  ...[tsc, "--noEmit", "--incremental", "--tsBuildInfoFile", join(cache, `${name}.tsbuildinfo`)],
  ...args,
];
const page = join("src", "chart", "render", "page", "browser");

const started = performance.now();
const failed = (
  await Promise.all([
    run("types", ...types("all")),
    run("types of the page's script", ...types("page", "-p", page)).then(async (found) => [
      ...found,
      ...(await run("format", bin("prettier"), "--check", "--cache", "--log-level", "warn", ".")),
    ]),
    run("lint", bin("eslint"), "--cache", "--cache-location", join(cache, "eslint"), "."),
  ])
).flat();
if (failed.length > 0) end(failed);
say("types, lint and format: ok");
end(await run("tests", bin("vitest"), "run", ...(all ? [] : ["--project", "quick"])));

function end(failed) {
  if (failed.length > 0) process.stderr.write(`probelab: failed: ${failed.join(", ")}\n`);
  else say("all checks passed");
  process.exit(failed.length > 0 ? 1 : 0);
}

function say(what) {
  const seconds = Math.round((performance.now() - started) / 1000);
  process.stderr.write(`probelab: ${what} after ${seconds} s\n`);
}

/** The script that a package's command runs. */
function bin(name) {
  const scripts = {
    eslint: join("eslint", "bin", "eslint.js"),
    prettier: join("prettier", "bin", "prettier.cjs"),
    vitest: join("vitest", "vitest.mjs"),
  };
  return join("node_modules", scripts[name]);
}

/** Its name where it failed. */
function run(name, ...args) {
  return new Promise((resolve) => {
    spawn(process.execPath, args, { stdio: "inherit" }).on("close", (code) =>
      resolve(code === 0 ? [] : [name]),
    );
  });
}
