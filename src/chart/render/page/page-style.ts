import type { ThemeName } from "../theme.js";

const LIGHT = `
  --ink: #1f2328; --soft: #59636e; --line: #d1d9e0; --paper: #fff; --code: #f6f8fa;
  --accent: #0a5cad; --error: #b3261e; --error-paper: #fdf1f0;`;
const DARK = `
  --ink: #e6e8ea; --soft: #9aa4af; --line: #3a424b; --paper: #14171b; --code: #1e2328;
  --accent: #7ab8f5; --error: #ff8a80; --error-paper: #2a1b1b;`;

/** The looks that all pages of probelab share; `auto` is as the reader's system is. */
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
.text :not(pre) > code { overflow-wrap: anywhere; background: var(--code); padding: 0.1em 0.35em; border-radius: 4px; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.7rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th:not([align]), td:not([align]) { text-align: left; }
[align="left"] { text-align: left; }
[align="right"] { text-align: right; }
caption { text-align: left; color: var(--soft); padding: 0.3rem 0; min-width: 18rem; }
.text table, .text pre { margin: 1em 0; }
blockquote { margin: 1em 0; padding-left: 1em; border-left: 3px solid var(--line); color: var(--soft); }
footer { margin-top: 3rem; padding-top: 0.8rem; border-top: 1px solid var(--line); color: var(--soft); font-size: 0.8rem; }
@media print {
  :root { --ink: #000; --paper: #fff; --code: #f6f8fa; --soft: #444; --line: #bbb; }
  body { font-size: 10.5pt; } main { max-width: none; padding: 0; }
  pre { white-space: pre-wrap; }
  .probelab-wide { overflow: visible; }
  table { font-size: 7.5pt; }
  th, td { padding: 0.2em 0.4em; overflow-wrap: anywhere; }
  /* Heads, what names a row (a version) and numbers are broken only where they are longer than a column may be. */
  th, td[align="right"] { overflow-wrap: break-word; max-width: 14rem; }
}
`;
}

function colours(theme: ThemeName | "auto"): string {
  if (theme === "dark") return `:root { color-scheme: dark;${DARK}\n}`;
  if (theme === "light") return `:root { color-scheme: light;${LIGHT}\n}`;
  return `:root { color-scheme: light dark;${LIGHT}\n}
@media (prefers-color-scheme: dark) { :root {${DARK}\n} }`;
}

/** The looks of a chart in a page: the live drawing on a screen, its picture in print and without JavaScript. */
export const figureStyle = `
.probelab-chart { margin: 1.5rem 0; break-inside: avoid; }
.probelab-table { margin: 1.5rem 0; }
.probelab-wide { overflow-x: auto; }
.probelab-table p { margin: 0.6rem 0 0.2rem; }
.probelab-plot { overflow-x: auto; overflow-y: hidden; }
.probelab-plot svg { display: block; height: auto; }
.probelab-scaled svg { max-width: max(100%, 42rem); }
.probelab-drawing { display: none; }
.probelab-live .probelab-drawing { display: block; }
.probelab-live .probelab-picture { display: none; }
.probelab-chart figcaption { padding: 0 12px; }
.probelab-words, .probelab-source { font-size: 0.85rem; color: var(--soft); }
.probelab-words summary, .probelab-source summary { cursor: pointer; padding: 0.15rem 0; }
.probelab-words summary:hover, .probelab-source summary:hover { color: var(--ink); }
.probelab-words p, .probelab-words ul, .probelab-source dl { color: var(--ink); max-width: 60rem; margin: 0.4rem 0 0.8rem; }
.probelab-source dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.3rem 1rem; }
.probelab-source dt { color: var(--soft); }
.probelab-source dd { margin: 0; overflow-wrap: anywhere; }
.probelab-source pre { background: var(--code); border-radius: 6px; white-space: pre-wrap; }
.probelab-source ul { margin: 0; padding-left: 1.1rem; }
.probelab-tooltip {
  position: fixed; z-index: 10; pointer-events: none; max-width: min(28rem, 90vw); overflow-wrap: anywhere;
  background: var(--paper); color: var(--ink); border: 1px solid var(--line); border-radius: 4px;
  box-shadow: 0 2px 8px rgb(0 0 0 / 20%); padding: 0.35rem 0.5rem; font-size: 0.8rem; line-height: 1.35;
}
.probelab-tooltip table { font-size: inherit; }
.probelab-tooltip th, .probelab-tooltip td { border: 0; padding: 0.05rem 0.3rem; }
.probelab-tooltip th { color: var(--soft); font-weight: normal; text-align: left; max-width: 12rem; }
@media (max-width: 34rem) { .probelab-source dl { grid-template-columns: 1fr; gap: 0 } .probelab-source dd { margin-bottom: 0.5rem; } }
@media print {
  .probelab-live .probelab-drawing, .probelab-tooltip { display: none; }
  .probelab-live .probelab-picture { display: block; }
  .probelab-plot { overflow: visible; }
  .probelab-plot svg { max-width: 100%; }
  .probelab-words:not([open]), .probelab-source:not([open]) { display: none; }
}
`;
