// Bundles what the saved pages run: one classic script, of our small source, Vega and its
// interpreter. The same sources give the same bytes, so that a page's policy can name its hash.
import { build } from "esbuild";

await build({
  entryPoints: ["src/chart/render/page/browser/main.ts"],
  outfile: "dist/chart/render/page/runtime.iife.js",
  bundle: true,
  format: "iife",
  platform: "browser",
  target: "es2022",
  minify: true,
  charset: "ascii",
  legalComments: "none",
  banner: {
    js: "/* Holds Vega and vega-interpreter, (c) 2015-2025 University of Washington Interactive Data Lab and contributors, BSD-3-Clause (https://github.com/vega/vega/blob/main/LICENSE), and D3, (c) 2010-2025 Mike Bostock, ISC. */",
  },
  logLevel: "warning",
});
