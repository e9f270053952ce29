/** The name, or one like it that no column has. */
export function unusedName(taken: readonly string[], wanted: string): string {
  let name = wanted;
  while (taken.includes(name)) name += "_";
  return name;
}
