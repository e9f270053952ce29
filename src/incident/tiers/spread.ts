/** A step from a component to one that gives it its number. */
export interface Link {
  readonly to: string;
  readonly rule: number;
}

/** The least number that a component reaches, and the first step to where it comes from. */
export interface Spread {
  readonly value: number;
  /** Missing where the number is its own. */
  readonly next?: Link;
}

/**
 * For each name the least number of all that it reaches over links, its own included: the greatest
 * fixed point of "no greater than that of any link". Found by breadth-first searches backwards from
 * the least numbers up, so that each name is settled once and its path is the shortest, the first
 * by name among equals: the order of what comes in doesn't count.
 */
export function spread(
  own: ReadonlyMap<string, number>,
  links: (name: string) => readonly Link[],
): Map<string, Spread> {
  const names = [...own.keys()].sort();
  const back = new Map<string, { from: string; link: Link }[]>();
  for (const from of names) {
    for (const link of links(from)) {
      const list = back.get(link.to) ?? [];
      list.push({ from, link });
      back.set(link.to, list);
    }
  }
  const settled = new Map<string, Spread>();
  for (const value of [...new Set(own.values())].sort((a, b) => a - b)) {
    let level = names.filter((name) => own.get(name) === value && !settled.has(name));
    for (const name of level) settled.set(name, { value });
    while (level.length > 0) {
      const found: string[] = [];
      for (const to of level) {
        for (const { from, link } of back.get(to) ?? []) {
          if (settled.has(from)) continue;
          settled.set(from, { value, next: link });
          found.push(from);
        }
      }
      level = found.sort();
    }
  }
  return settled;
}

/** The steps from a name to where its number comes from. */
export function stepsOf(settled: ReadonlyMap<string, Spread>, name: string): Link[] {
  const steps: Link[] = [];
  for (let next = settled.get(name)?.next; next !== undefined; next = settled.get(next.to)?.next) {
    steps.push(next);
  }
  return steps;
}
