import type { WrittenGraph } from "./random-graph.js";

/** Tiers by name. */
export type Tiers = Record<string, number>;

/** The written tiers. */
export function writtenTiers(graph: WrittenGraph): Tiers {
  return Object.fromEntries(
    Object.entries(graph.components).map(([name, { tier }]) => [name, tier]),
  );
}

/** All that hard-depend on a component, however far, and itself: by asking every path. */
function takenDown(graph: WrittenGraph, name: string): string[] {
  const reaches = (from: string): boolean =>
    from === name || (graph.components[from]?.hard ?? []).some(reaches);
  return Object.keys(graph.components).filter(reaches);
}

/** The severity that an outage can cause; Infinity where none is told. */
export function causedSeverity(graph: WrittenGraph, name: string): number {
  return Math.min(
    ...takenDown(graph, name).map((each) => graph.components[each]?.causes ?? Infinity),
  );
}

/** The tiers that result: each rule is applied by itself, anywhere, until none changes anything. */
export function settledTiers(graph: WrittenGraph): Tiers {
  const tiers = writtenTiers(graph);
  const tier = (name: string): number => tiers[name] ?? NaN;
  for (let changed = true; changed;) {
    changed = false;
    const lower = (name: string, to: number): void => {
      if (to >= tier(name)) return;
      tiers[name] = to;
      changed = true;
    };
    for (const [name, { hard }] of Object.entries(graph.components)) {
      for (const on of hard) lower(name, tier(on));
      lower(name, causedSeverity(graph, name));
    }
    for (const { machinery, protects } of graph.failover) lower(machinery, tier(protects));
    for (const { service, active, standby } of graph.pairs) {
      lower(active, tier(service));
      lower(standby, tier(service));
    }
    for (const { service, balancer, testHelpers } of graph.redundancy) {
      if (testHelpers) lower(service, 2);
      if (balancer !== undefined) lower(balancer, tier(service));
    }
  }
  return tiers;
}

/** `rule component path` of each rule that is broken, from the policy's sentences one by one. */
export function brokenRules(graph: WrittenGraph, tiers: Tiers): Set<string> {
  const broken = new Set<string>();
  const tier = (name: string): number => tiers[name] ?? NaN;
  const stage = (name: string): number => graph.stages.indexOf(graph.components[name]?.stage ?? "");
  const add = (rule: number, component: string, ...path: string[]): void =>
    void broken.add([rule, component, ...path].join(" "));
  for (const [name, component] of Object.entries(graph.components)) {
    // 3. Pre-production stages have tier >= 5.
    if (stage(name) < graph.stages.length - 1 && tier(name) < 5) add(3, name);
    for (const on of component.hard) {
      // 5. An outage causes an outage, or only a partial failure.
      if (component.soft.includes(on)) add(5, name, name, on);
      // 6. Only on components of the same or a lower tier number.
      if (tier(on) > tier(name)) add(6, name, name, on);
    }
    // 7. Not on, nor data from, a lower stage.
    for (const on of [...component.hard, ...component.soft, ...component.receives]) {
      if (stage(on) < stage(name)) add(7, name, name, on);
    }
    // 1. Tier N can cause severity N: here the tier numbers above what can be caused.
    if (tier(name) > causedSeverity(graph, name)) add(1, name);
  }
  // 8. The same tier, or a lower number; both members share the tier.
  for (const { machinery, protects } of graph.failover) {
    if (tier(machinery) > tier(protects)) add(8, machinery, machinery, protects);
  }
  for (const { service, balancer } of graph.redundancy) {
    if (balancer !== undefined && tier(balancer) > tier(service)) {
      add(8, balancer, balancer, service);
    }
  }
  for (const { service, active, standby } of graph.pairs) {
    for (const member of [active, standby]) {
      if (tier(member) !== tier(service)) add(8, member, member, service);
    }
  }
  // 9. The whole at least tier 2; members 3 or 4 behind a reliable balancer.
  for (const { service, members, balancer, reliable, testHelpers } of graph.redundancy) {
    if (testHelpers && tier(service) > 2) add(9, service, service);
    for (const member of members) {
      if (tier(member) <= 2 || tier(member) <= tier(service)) continue;
      if (tier(member) > 4 || balancer === undefined || !reliable) {
        add(9, member, service, member);
      }
    }
  }
  return broken;
}
