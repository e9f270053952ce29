import type { ThemeName } from "../theme.js";

const LIGHT = `
  --ink: #1f2328; --soft: #59636e; --line: #d1d9e0; --paper: #fff; --code: #f6f8fa;
  --accent: #0a5cad; --error: #b3261e; --error-paper: #fdf1f0;`;
const DARK = `
  --ink: #e6e8ea; --soft: #9aa4af; --line: #3a424b; --paper: #14171b; --code: #1e2328;
  --accent: #7ab8f5; --error: #ff8a80; --error-paper: #2a1b1b;`;

/**
 * The looks that all pages of probelab share: one readable column, tables, code, printable.
 *
 * @param theme `auto` is light or dark as the reader's system is.
 */
export function baseStyle(theme: ThemeName | "auto"): string {
  return `${colours(theme)}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1, h2, h3 { line-height: 1.25; margin: 1.6em 0 0.5em; }
h1 { font-size: 1.9rem; margin-top: 0.5em; }
h2 { font-size: 1.4rem; border-bottom: 1px solid var(--line); padding-bottom: 0.25em; }
.text { max-width: 46rem; }
a { color: var(--accent); }
img { max-width: 100%; height: auto; }
pre, code { font: 0.85rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre { margin: 0; padding: 0.7rem 0.9rem; overflow-x: auto; white-space: pre; }
.text pre { background: var(--code); border-radius: 6px; }
.text :not(pre) > code { background: var(--code); padding: 0.1em 0.35em; border-radius: 4px; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.7rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th:not([align]), td:not([align]) { text-align: left; }
[align="left"] { text-align: left; }
[align="right"] { text-align: right; }
td img { max-width: none; vertical-align: middle; }
caption { text-align: left; color: var(--soft); padding: 0.3rem 0; min-width: 18rem; }
.text table, .text pre { margin: 1em 0; }
blockquote { margin: 1em 0; padding-left: 1em; border-left: 3px solid var(--line); color: var(--soft); }
footer { margin-top: 3rem; padding-top: 0.8rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.8rem; }
@media print {
  :root { --ink: #000; --paper: #fff; --code: #f6f8fa; --soft: #444; --line: #bbb; }
  body { font-size: 10.5pt; } main { max-width: none; padding: 0; }
  pre { white-space: pre-wrap; }
}
`;
}

function colours(theme: ThemeName | "auto"): string {
  if (theme === "dark") return `:root { color-scheme: dark;${DARK}\n}`;
  if (theme === "light") return `:root { color-scheme: light;${LIGHT}\n}`;
  return `:root { color-scheme: light dark;${LIGHT}\n}
@media (prefers-color-scheme: dark) { :root {${DARK}\n} }`;
}
