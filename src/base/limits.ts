/** The most rows that reach a chart: fewer than 5,000 (rule 5 of the house). */
export const MOST_ROWS = 4_999;
