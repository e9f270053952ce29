/**
 * A cycle of a directed graph, its first name again at its end; undefined where there is none.
 *
 * Depth first with three colours (Cormen et al., Introduction to Algorithms, 22.3), without
 * recursion: a chain may be thousands of components long.
 *
 * @param names in the order that they are looked at: it decides which cycle is found.
 */
export function findCycle(
  names: readonly string[],
  next: (name: string) => readonly string[],
): string[] | undefined {
  const done = new Set<string>();
  for (const start of names) {
    const path: string[] = [];
    const on = new Set<string>();
    const open = [[start]];
    while (open.length > 0) {
      const name = open.at(-1)?.pop();
      if (name === undefined) {
        open.pop();
        const left = path.pop();
        if (left !== undefined) {
          on.delete(left);
          done.add(left);
        }
      } else if (on.has(name)) {
        return [...path.slice(path.indexOf(name)), name];
      } else if (!done.has(name)) {
        path.push(name);
        on.add(name);
        // The first is taken from the end.
        open.push([...next(name)].reverse());
      }
    }
  }
  return undefined;
}
