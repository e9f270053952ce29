/** From so many columns on a table is so large in print (points), on paper of that side. */
const SIZES: readonly (readonly [columns: number, size: number, side: "as it is" | "wide"])[] = [
  [5, 8.5, "as it is"],
  [7, 7.5, "as it is"],
  [10, 7.5, "wide"],
  [14, 6, "wide"],
  [19, 4.5, "wide"],
  [27, 3, "wide"],
  [41, 2, "wide"],
];

/** What is there in a table of so many columns, or more. */
const cell = (columns: number): string => `> * > tr > :nth-child(${columns})`;
const firstWide = SIZES.find(([, , side]) => side === "wide")?.[0] ?? Infinity;

/**
 * CSS, to stand last, that puts all of a table on the paper, where nothing can be scrolled: the more columns, the
 * smaller the type, beyond nine on a page of its own across the paper. Words of headers and numbers
 * stay whole, other text is broken where it must be; bars shrink with the type.
 *
 * Tables are told apart by their columns, as notebooks show them without classes.
 */
export const printTables = `
@media print {
.probelab-wide, .output, .table { overflow: visible; }
@page wide-table { size: landscape; }
:is(.probelab-table, .output, .shown):has(table ${cell(firstWide)}) { page: wide-table; }
thead { break-inside: avoid; }
th, td { padding: 0.2em 0.4em; }
thead th { white-space: normal; vertical-align: bottom; }
th[scope="row"], td:not([align="right"]) { white-space: normal; overflow-wrap: anywhere; }
:where(th[scope="row"], td:not([align="right"])) { min-width: 6em; }
td img[height="10"] { width: 3.2em; height: 0.4em; }
${SIZES.map(([columns, size]) => `table:has(${cell(columns)}) { font-size: ${size}pt; }`).join("\n")}
}
`;
