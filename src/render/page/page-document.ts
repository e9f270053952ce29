import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { ProbelabError } from "../../base/error.js";
import { cleanText } from "../../base/text.js";
import { escapeXml } from "../../base/xml.js";
import type { ThemeName } from "../theme.js";
import { baseStyle, figureStyle, printTables } from "./page-style.js";

const require = createRequire(import.meta.url);

/** What a page consists of. */
export interface PageParts {
  /** Plain text, for the window and the search. */
  readonly title: string;
  /** HTML of the page's `<main>`, made by code that escaped what it was given; figures in it are of `chartFigure`. */
  readonly body: string;
  /** Default light; `auto` is as the reader's system is. */
  readonly theme?: ThemeName | "auto" | undefined;
  /** Whether it holds charts, which need the script and the font; default true. */
  readonly live?: boolean | undefined;
  /** A script of the page's own, beside the one of its charts. */
  readonly script?: string | undefined;
  /** CSS of the page's own. Rules stand here: the policy leaves out `style` attributes. */
  readonly style?: string | undefined;
}

/** A page that is whole in itself: charts live, no address asked, nothing run but its own script. */
export function pageDocument(parts: PageParts): string {
  const { title, body, theme = "light", live = true, style = "", script } = parts;
  const scripts = [...(live ? [runtimeSource()] : []), ...(script === undefined ? [] : [script])];
  const css = `${baseStyle(theme)}${figureStyle}${style}${printTables}${live ? fontRules() : ""}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy(scripts, css)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(cleanText(title, 300))}</title>
<style>${css}</style>
</head>
<body>
<main>
${body}
</main>
${scripts.map((source) => `<script>${source}</script>`).join("")}
</body>
</html>
`;
}

// The Content-Security-Policy of a saved page. Nothing is loaded but pictures and fonts that stand in
// the page itself; of scripts and styles only those given run, known by their hash, so that the same
// page has the same bytes; no script can make HTML out of text (Trusted Types).
function pagePolicy(scripts: readonly string[], style: string): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.length === 0 ? "'none'" : scripts.map(scriptHash).join(" ")}`,
    `style-src ${scriptHash(style)}`,
    "img-src data:",
    "font-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** A script or a style as a policy names it. */
export function scriptHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

// What the Latin part of the font covers, as its package says.
const LATIN =
  "U+0000-00FF, U+0131, U+0152-0153, U+02BB-02BC, U+02C6, U+02DA, U+02DC, U+0304, U+0308, U+0329, U+2000-206F, U+20AC, U+2122, U+2191, U+2193, U+2212, U+2215, U+FEFF, U+FFFD";

let font: string | undefined;

// The shipped font as rules of a style, Latin in two weights (31 KB): charts are laid out in it, so
// that a machine with another font, such as a phone, shows the same picture. Other scripts are in
// the reader's own fonts.
export function fontRules(): string {
  return (font ??= [400, 700]
    .map((weight) => {
      const file = require.resolve(`@fontsource/arimo/files/arimo-latin-${weight}-normal.woff2`);
      const data = readFileSync(file).toString("base64");
      return `@font-face { font-family: Arimo; font-weight: ${weight}; src: url(data:font/woff2;base64,${data}) format("woff2"); unicode-range: ${LATIN}; }\n`;
    })
    .join(""));
}

// The same from src as from dist, in this folder and in an installed package.
const BUILT = new URL("../../../dist/render/page/runtime.iife.js", import.meta.url);

let runtime: string | undefined;

/** The script that makes charts live: Vega with its interpreter, which needs no `eval`. */
export function runtimeSource(): string {
  if (runtime === undefined && !existsSync(BUILT)) {
    throw new ProbelabError(
      `Can't write an interactive page: its script (${fileURLToPath(BUILT)}) is missing; run "npm run build" in probelab's folder, or install the package again.`,
    );
  }
  return (runtime ??= readFileSync(BUILT, "utf8"));
}
