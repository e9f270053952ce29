import { editDistance } from "./database/table-info.js";

/** The name that was probably meant: a few letters away, upper and lower case alike. */
export function nearName(name: string, names: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(name.length / 3));
  return names
    .map((known) => ({ known, far: distance(known.toLowerCase(), name.toLowerCase()) }))
    .filter(({ far }) => far <= most && far < name.length)
    .sort((a, b) => a.far - b.far)[0]?.known;
}

/** Letters to change; letters in another order are one mistake. */
function distance(a: string, b: string): number {
  const letters = (text: string): string => [...text].sort().join("");
  return a !== b && letters(a) === letters(b) ? 1 : editDistance(a, b);
}
