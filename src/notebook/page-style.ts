import { baseStyle, printTables } from "../chart/page/page-style.js";

/** The looks of an executed notebook's page: one readable column, light or dark as the system is, printable. */
export const pageStyle = `${baseStyle("auto")}
.output > img { background: #fff; }
.cell > .source { background: var(--code); border-radius: 6px; }
.cell { margin: 1.2rem 0; }
.source { position: relative; border: 1px solid var(--line); }
.source > summary {
  cursor: pointer; color: var(--soft); font-size: 0.75rem; padding: 0.25rem 0.9rem; list-style-position: inside;
}
.output { margin: 0.6rem 0; overflow-x: auto; }
.output pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.stderr pre { border-left: 3px solid var(--line); color: var(--soft); }
.error pre { background: var(--error-paper); border-left: 3px solid var(--error); border-radius: 4px; }
.ansi-bold { font-weight: 700; } .ansi-dim { opacity: 0.7; }
.ansi-red { color: var(--error); } .ansi-green { color: #1a7f37; } .ansi-yellow { color: #9a6700; }
.ansi-blue, .ansi-cyan { color: var(--accent); } .ansi-magenta { color: #8250df; }
@media print {
  .output, .source { break-inside: avoid; } .output > img { break-inside: avoid; }
}
${printTables}`;
