// Puts what a notebook loads, our modules and Vega's, into a few files: to find and open 500 takes a
// process half a second. What else stands in dist stays as the compiler wrote it.
import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { relative, sep } from "node:path";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const packages = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });

await build({
  entryPoints: [
    "src/index.ts",
    "src/kernel/worker-main.ts",
    "src/kernel/kernel-main.ts",
    "src/cli/main.ts",
  ],
  outbase: "src",
  outdir: "dist",
  bundle: true,
  splitting: true,
  // What is shown of a value begins with the name of its class.
  keepNames: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  external: [...packages.filter((name) => !name.startsWith("vega")), "canvas"],
  legalComments: "eof",
  sourcemap: true,
  logLevel: "warning",
  plugins: [
    {
      name: "places",
      setup: ({ onLoad }) => onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, inItsPlace),
    },
  ],
});

// A module goes on to find its neighbours from where the compiler put it.
async function inItsPlace({ path }) {
  const place = relative("src", path).replaceAll(sep, "/").replace(/ts$/, "js");
  const text = await readFile(path, "utf8");
  const url = `import.meta.url.replace(/^(.*\\/dist\\/).*$/, "$1${place}")`;
  return { loader: "ts", contents: text.replaceAll("import.meta.url", url) };
}
