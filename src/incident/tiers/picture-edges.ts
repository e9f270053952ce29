import { failoverOf, type Graph } from "./graph.js";

/** How two components belong together, as it is drawn. */
export type Kind = (typeof KINDS)[number];

/** In the order of the legend. */
export const KINDS = ["hard", "soft", "data", "failover or pair", "part or member"] as const;

/** An arrow of the picture. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly kind: Kind;
}

/** All arrows, each once: hard before soft, a member that is also a part once. */
export function arrowsOf(graph: Graph): Arrow[] {
  const arrows = new Map<string, Arrow>();
  const add = (from: string, to: string, kind: Kind): void => {
    const twice = kind === "soft" && arrows.has(key(from, to, "hard"));
    if (!twice && !arrows.has(key(from, to, kind)))
      arrows.set(key(from, to, kind), { from, to, kind });
  };
  for (const { name, hard, soft, receives, contains } of graph.components.values()) {
    for (const on of hard) add(name, on, "hard");
    for (const on of soft) add(name, on, "soft");
    for (const source of receives) add(source, name, "data");
    for (const part of contains) add(name, part, "part or member");
  }
  for (const { machinery, protects } of failoverOf(graph)) {
    add(machinery, protects, "failover or pair");
  }
  for (const { service, active, standby } of graph.pairs) {
    for (const member of [active, standby]) add(member, service, "failover or pair");
  }
  for (const { service, members } of graph.redundancy) {
    for (const member of members) add(service, member, "part or member");
  }
  // A member of a pair is known to be a part; what is broken about it stands at the pair's arrow.
  return [...arrows.values()].filter(
    ({ from, to, kind }) =>
      kind !== "part or member" || !arrows.has(key(to, from, "failover or pair")),
  );
}

function key(from: string, to: string, kind: Kind): string {
  return JSON.stringify([from, to, kind]);
}
