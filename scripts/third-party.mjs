// Writes THIRD-PARTY.md: the packages that come with probelab, their versions and licences, as
// package-lock.json has them. With --check it only says whether the file is so.
import { readFileSync, writeFileSync } from "node:fs";

const text = thirdParty(readFileSync("package-lock.json", "utf8"));
if (!process.argv.includes("--check")) writeFileSync("THIRD-PARTY.md", text);
else if (readFileSync("THIRD-PARTY.md", "utf8") !== text) process.exit(1);

function thirdParty(lock) {
  const rows = new Map();
  for (const [path, { version, license, dev, optional }] of Object.entries(
    JSON.parse(lock).packages,
  )) {
    if (path === "" || dev) continue;
    const name = path.split("node_modules/").at(-1);
    rows.set(`${name} ${version}`, { name, version, license, optional });
  }
  const lines = [...rows.values()]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(
      ({ name, version, license, optional }) =>
        `| ${name} | ${version} | ${license ?? "not stated"} | ${optional ? "optional" : ""} |`,
    );
  return `# Packages that come with probelab

Made by \`node scripts/third-party.mjs\` from package-lock.json. Each package holds the text of its licence. *Optional* ones are the embedded ClickHouse engine and what exists for one platform each; \`npm install\` takes those of the machine's own.

The script of saved pages (\`dist/chart/render/page/runtime.iife.js\`) holds Vega and vega-interpreter (BSD-3-Clause) and D3 (ISC); the modules of notebooks (\`dist/*.js\`) hold Vega, Vega-Lite (BSD-3-Clause) and D3 (ISC). Pages and SVG files that probelab writes hold the font Arimo (OFL-1.1).

Two packages have an install script: that of zeromq tries the binary that it comes with, and builds one with CMake where none fits; that of chdb does nothing. \`npm install --ignore-scripts\` leaves both out, and all works where zeromq's binary fits (Linux and macOS on x64 and arm64).

| package | version | licence | |
|---|---|---|---|
${lines.join("\n")}
`;
}
