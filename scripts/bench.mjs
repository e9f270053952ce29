// Compiles the benches and runs those that are named: npm run bench -- query-overhead
import { spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

const known = readdirSync("bench")
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.slice(0, -3));
const wanted = process.argv.slice(2).filter((name) => !name.startsWith("-"));
const unknown = wanted.filter((name) => !known.includes(name));
if (wanted.length === 0 || unknown.length > 0) {
  const what = unknown.length > 0 ? `There is no bench ${unknown.join(", ")}.` : "Name a bench.";
  console.error(
    `${what} There are ${known.join(", ")}; such as "npm run bench -- query-overhead".`,
  );
  process.exit(1);
}
run([join("node_modules", "typescript-native", "bin", "tsc"), "-p", "tsconfig.bench.json"]);
// A chart's origin names the version of probelab; its server runs from what the build made.
copyFileSync("package.json", join(".bench", "package.json"));
rmSync(join(".bench", "dist"), { force: true });
symlinkSync(resolve("dist"), join(".bench", "dist"), "junction");
for (const name of wanted) {
  run(["--expose-gc", "--enable-source-maps", join(".bench", "bench", `${name}.js`)]);
}

function run(args) {
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
