import type { Graph } from "./graph.js";

/** The tier number of each component. */
export type TierNumbers = ReadonlyMap<string, number>;

/** A component whose tier number the policy lowers. */
export interface Reclassified {
  readonly component: string;
  /** The tier as written. */
  readonly from: number;
  /** The tier that results. */
  readonly to: number;
  /** From the component to the one that the tier comes from, each hard-depending on the next, or as `rules` says. */
  readonly because: readonly string[];
  /** The rules that give the tier, one for each step of the path and one for its end, each once. */
  readonly rules: readonly number[];
}

/**
 * The severity that an outage of each component can cause: its own, or that of a component which
 * its outage takes down (rule 5), however far. Those that can cause none are left out.
 */
export function causedSeverities(graph: Graph): Map<string, Spread> {
  const dependents = hardDependents(graph);
  const own = new Map(
    [...graph.components.values()].map(({ name, causes }) => [name, causes ?? Infinity]),
  );
  const caused = spread(own, (name) => (dependents.get(name) ?? []).map((to) => ({ to, rule: 1 })));
  return new Map([...caused].filter(([, { value }]) => value !== Infinity));
}

/** For each component those that hard-depend on it. */
export function hardDependents({ components }: Graph): Map<string, string[]> {
  const dependents = new Map<string, string[]>();
  for (const { name, hard } of components.values()) {
    for (const on of hard) dependents.set(on, [...(dependents.get(on) ?? []), name]);
  }
  return dependents;
}

/**
 * The tiers that follow from those written, to a fixed point: the greatest numbers, none above the
 * written one, for which all of these hold.
 *
 * - Rule 1: no number above a severity that the component can cause.
 * - Rule 6, second sentence: no number above that of a component it hard-depends on.
 * - Rule 8: failover machinery, balancers, and both members of a pair, no number above that of
 *   their service.
 * - Rule 9: the test helper service no number above 2.
 *
 * No number is ever raised. Each of them is the least of a set that the others don't change (all
 * that the component reaches), so the point is reached, is one, and doesn't hang on any order.
 */
export function reclassify(
  graph: Graph,
  caused: ReadonlyMap<string, Spread>,
): { readonly tiers: TierNumbers; readonly reclassified: readonly Reclassified[] } {
  const helpers = new Set(
    graph.redundancy.filter((each) => each.testHelpers).map(({ service }) => service),
  );
  const bounds = (name: string, tier: number) => [
    { rule: 0, tier },
    { rule: 1, tier: caused.get(name)?.value ?? Infinity },
    { rule: 9, tier: helpers.has(name) ? 2 : Infinity },
  ];
  const own = new Map<string, number>();
  const bases = new Map<string, number>();
  for (const { name, tier } of graph.components.values()) {
    const least = bounds(name, tier).reduce((a, b) => (b.tier < a.tier ? b : a));
    own.set(name, least.tier);
    bases.set(name, least.rule);
  }
  const links = linksOf(graph);
  const settled = spread(own, (name) => links.get(name) ?? []);
  const reclassified = [...graph.components.values()].flatMap(({ name, tier }): Reclassified[] => {
    const to = settled.get(name)?.value ?? tier;
    if (to >= tier) return [];
    const steps = stepsOf(settled, name);
    const end = steps.at(-1)?.to ?? name;
    const base = bases.get(end) ?? 0;
    const causes = base === 1 ? stepsOf(caused, end) : [];
    const path = [name, ...steps.map((step) => step.to), ...causes.map((step) => step.to)];
    const rules = [...steps.map(({ rule }) => rule), ...(base === 0 ? [] : [base])];
    return [{ component: name, from: tier, to, because: path, rules: [...new Set(rules)] }];
  });
  return {
    tiers: new Map([...settled].map(([name, { value }]) => [name, value])),
    reclassified,
  };
}

/** What a component's tier number may not be above, by the rule that says so. */
function linksOf(graph: Graph): Map<string, Link[]> {
  const links = new Map<string, Link[]>();
  const add = (from: string, to: string, rule: number): void => {
    const list = links.get(from) ?? [];
    list.push({ to, rule });
    links.set(from, list);
  };
  for (const { name, hard } of graph.components.values()) {
    for (const on of hard) add(name, on, 6);
  }
  for (const { machinery, protects } of graph.failover) add(machinery, protects, 8);
  for (const { service, active, standby } of graph.pairs) {
    add(active, service, 8);
    add(standby, service, 8);
  }
  return links;
}

/** A step from a component to one that gives it its number. */
interface Link {
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
function spread(
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
