import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { ProbelabError } from "../../../base/error.js";
import { cleanText } from "../../../base/text.js";
import { escapeXml } from "../../../base/xml.js";
import { THEMES, type Theme, type ThemeName } from "../theme.js";
import { TEXT_STYLE } from "../table-outputs.js";
import { baseStyle, figureStyle } from "./page-style.js";

const require = createRequire(import.meta.url);

/** The parts of a page. */
export interface PageParts {
  /** Plain text. */
  readonly title: string;
  /** HTML of `<main>`; all text in it must be escaped. Charts are figures of `chartFigure`. */
  readonly body: string;
  /** Colours; default `auto`, as the reader's system. */
  readonly theme?: ThemeName | "auto" | undefined;
  /** A script of this page, beside that of its charts; default none. */
  readonly script?: string | undefined;
  /** CSS of this page, after the common rules. */
  readonly style?: string | undefined;
  /** True applies `style` attributes of the body, as in HTML outputs of a notebook; default false. */
  readonly styleAttributes?: boolean | undefined;
}

/**
 * A self-contained HTML page: no request, no script but the given one and that of live charts.
 * The same parts give the same bytes. Every page that probelab writes is made here.
 *
 * @example
 * const html = pageDocument({ title: "Runs", style: "li { color: red; }", body: "<ul>…</ul>" });
 */
export function pageDocument(parts: PageParts): string {
  const { title, theme = "auto", style = "", script } = parts;
  const body = parts.styleAttributes ? parts.body : parts.body.replaceAll(TEXT_STYLE, "");
  // No text can hold this: it is escaped.
  const live = body.includes(CONTENT_BLOCK);
  const scripts = [...(live ? [runtimeSource()] : []), ...(script === undefined ? [] : [script])];
  const css = `${baseStyle(theme)}${figureStyle}${style}${live ? fontRules() : ""}`;
  const styles = parts.styleAttributes ? "'unsafe-inline'" : scriptHash(css);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(scripts, styles)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(cleanText(title, 300))}</title>
<style>${css}</style>
</head>
<body>
<main>
${body}
</main>
${live && theme === "auto" ? jsonScript("probelab-dark", darkColours()) : ""}
${scripts.map((source) => `<script>${source}</script>`).join("")}
</body>
</html>
`;
}

/** The beginning of the data block of a live chart. */
const CONTENT_BLOCK = '<script type="application/json" class="probelab-content">';

/** The colours of light charts as they are in the dark, of charts that are drawn on the page. */
function darkColours(): Record<string, string> {
  const { light, dark } = THEMES;
  const names = Object.keys(light) as (keyof Theme)[];
  const pairs = names.flatMap((name) =>
    [light[name]].flat().map((colour, at): [string, string] => [colour, [dark[name]].flat()[at]!]),
  );
  // Of two that are one colour in the light, the first.
  return Object.fromEntries(pairs.toReversed());
}

/** A value as a data block of an HTML page: nothing in it can end the block or begin a comment. */
export function jsonScript(className: string, value: unknown): string {
  const json = JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `<script type="application/json" class="${className}">${json}</script>`;
}

// Loads nothing but pictures and fonts in the page itself. Scripts and styles are known by their hash,
// so that the same page has the same bytes; no script can make HTML from text (Trusted Types).
function policy(scripts: readonly string[], styles: string): string {
  return [
    "default-src 'none'",
    `script-src ${scripts.map(scriptHash).join(" ") || "'none'"}`,
    `style-src ${styles}`,
    "img-src data:",
    "font-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

function scriptHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

// From the CSS of @fontsource/arimo, latin.
const LATIN =
  "U+0000-00FF, U+0131, U+0152-0153, U+02BB-02BC, U+02C6, U+02DA, U+02DC, U+0304, U+0308, U+0329, U+2000-206F, U+20AC, U+2122, U+2191, U+2193, U+2212, U+2215, U+FEFF, U+FFFD";

let font: string | undefined;

// The shipped font, Latin in two weights (31 KB): charts are laid out in it, so that a machine with
// other fonts, such as a phone, shows the same picture. Other scripts use the reader's fonts.
function fontRules(): string {
  return (font ??= [400, 700]
    .map((weight) => {
      const file = require.resolve(`@fontsource/arimo/files/arimo-latin-${weight}-normal.woff2`);
      const data = readFileSync(file).toString("base64");
      return `@font-face { font-family: Arimo; font-weight: ${weight}; src: url(data:font/woff2;base64,${data}) format("woff2"); unicode-range: ${LATIN}; }\n`;
    })
    .join(""));
}

// The same from src as from dist, in this folder and in an installed package.
const BUILT = new URL("../../../../dist/chart/render/page/runtime.iife.js", import.meta.url);

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
