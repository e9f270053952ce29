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

/** Levenshtein's distance: how many letters must be added, dropped or changed. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
