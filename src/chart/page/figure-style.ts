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
.probelab-drawing [class*="role-legend-"], .probelab-drawing [class*="role-legend-"] * { pointer-events: all; cursor: default; }
.probelab-drawing .role-mark > *, .probelab-drawing [class*="role-legend-"] > * { transition: opacity 0.12s; }
.probelab-faded { opacity: 0.15 !important; }
.probelab-chart figcaption { padding: 0 12px; }
.probelab-words, .probelab-source { font-size: 0.85rem; color: var(--soft); }
.probelab-words summary, .probelab-source summary { cursor: pointer; padding: 0.15rem 0; }
.probelab-words summary:hover, .probelab-source summary:hover { color: var(--ink); }
.probelab-words p, .probelab-source dl { color: var(--ink); max-width: 60rem; margin: 0.4rem 0 0.8rem; }
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
