/**
 * Orders software versions by component: 3.9 before 3.10, 3.8 before 3.8.1. Letters stand before
 * numbers and before the end, so 3.8-beta comes before 3.8 (as Semantic Versioning 2.0.0, 11.3).
 * Equal by component (1.0 and 1.00) are ordered as text, null comes last.
 *
 * @example
 * ["3.10", "3.9", "3.8-rc1", "3.8"].sort(compareVersions); // ["3.8-rc1", "3.8", "3.9", "3.10"]
 */
export function compareVersions(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  const left = components(a);
  const right = components(b);
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const order = compareComponents(left[i], right[i]);
    if (order !== 0) return order;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

function components(version: string): string[] {
  return version.match(/\d+|\p{L}+/gu) ?? [];
}

function compareComponents(a: string | undefined, b: string | undefined): number {
  const rank = (part: string | undefined) => (part === undefined ? 1 : /^\d/.test(part) ? 2 : 0);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (a === undefined || b === undefined) return 0;
  if (rank(a) === 0) return a < b ? -1 : a > b ? 1 : 0;
  const [x, y] = [a.replace(/^0+(?=\d)/, ""), b.replace(/^0+(?=\d)/, "")];
  return x.length - y.length || (x < y ? -1 : x > y ? 1 : 0);
}
