import { fromCSV } from "arquero";

/** The records of a CSV document, with its line of names first. */
export function parseCsv(document: string): string[][] {
  const table = fromCSV(document, { autoType: false, header: false });
  return table
    .objects()
    .map((row) => Object.values(row as Record<string, string | null>).map((cell) => cell ?? ""));
}
