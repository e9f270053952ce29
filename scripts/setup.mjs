// Brings a clone to where its commands can run: packages installed, TypeScript built. Does only
// what is missing, says what it does, and needs no network when nothing changed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(root);

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  fail(
    `probelab needs Node 20.19 or newer, this is ${process.versions.node}: install a newer Node and run the command again.`,
  );
}

if (!packagesInstalled()) {
  step(
    "installing packages (the database engine among them, 920 MB on disk with all packages)",
    "npm",
    ["ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"],
  );
}

// A cell imports "probelab" by name, as it would where it is installed.
const self = join("node_modules", "probelab");
if (!isLink(self)) {
  rmSync(self, { recursive: true, force: true });
  symlinkSync("..", self, "junction");
}

const built = join("dist", ".built");
const pageRuntime = join("scripts", "page-runtime.mjs");
const arqueroTypes = join("scripts", "arquero-types.mjs");
const bundle = join("scripts", "bundle.mjs");
const sources = fingerprint([
  "src",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
  pageRuntime,
  arqueroTypes,
  bundle,
]);
if (read(built) !== sources) {
  // What a build that fails leaves is no build, also of the sources before it.
  rmSync(built, { force: true });
  removeStale("dist");
  step("building", process.execPath, [
    join("node_modules", "typescript-native", "bin", "tsc"),
    "-p",
    "tsconfig.build.json",
  ]);
  step("mending Arquero's declarations", process.execPath, [arqueroTypes]);
  step("bundling the modules of notebooks", process.execPath, [bundle]);
  step("bundling the script of saved pages", process.execPath, [pageRuntime]);
  mkdirSync("dist", { recursive: true });
  writeFileSync(built, sources);
}

// npx probelab …, as where it is installed.
const command = join("node_modules", ".bin", "probelab");
if (process.platform !== "win32") {
  chmodSync(join("dist", "cli", "main.js"), 0o755);
  if (!isLink(command)) symlinkSync(join("..", "..", "dist", "cli", "main.js"), command);
}

function step(what, command, args) {
  const started = performance.now();
  process.stderr.write(`probelab: ${what} …\n`);
  const shell = process.platform === "win32" && command === "npm";
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", 2, 2], shell });
  if (status !== 0) {
    fail(
      `${what} failed (${error?.message ?? `exit code ${status}`}): read the lines above; the first time needs the network.`,
    );
  }
  process.stderr.write(
    `probelab: ${what.split(" (")[0]} took ${((performance.now() - started) / 1000).toFixed(1)} s\n`,
  );
}

// The compiler leaves what it wrote for sources that are gone, and a package would ship it.
function removeStale(folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== "node_modules") removeStale(path);
    } else if (/\.(js|d\.ts)(\.map)?$/.test(entry.name)) {
      const source = path.replace(/^dist/, "src").replace(/\.(js|d\.ts)(\.map)?$/, ".ts");
      if (!existsSync(source)) rmSync(path);
    }
  }
  if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true });
}

// npm writes what it installed; a package of another platform may be missing.
function packagesInstalled() {
  const text = read(join("node_modules", ".package-lock.json"));
  if (text === null) return false;
  const have = JSON.parse(text).packages;
  const want = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;
  return Object.entries(want).every(
    ([path, { version, optional }]) =>
      path === "" || have[path]?.version === version || (optional && !have[path]),
  );
}

function fingerprint(paths) {
  const hash = createHash("sha256");
  const add = (path) => {
    const stat = statSync(path);
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) add(join(path, name));
    else hash.update(path).update("\0").update(readFileSync(path));
  };
  paths.forEach(add);
  return hash.digest("hex");
}

function read(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

function isLink(path) {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function fail(message) {
  process.stderr.write(`probelab: ${message}\n`);
  process.exit(1);
}
