import fc from "fast-check";

/** A component as it is written in a file. */
export interface WrittenNode {
  tier: number;
  stage: string;
  hard: string[];
  soft: string[];
  receives: string[];
  causes?: 1 | 2 | 3 | 4;
}

/** A graph as it is written in a file. */
export interface WrittenGraph {
  stages: string[];
  components: Record<string, WrittenNode>;
  failover: { machinery: string; protects: string }[];
  pairs: { service: string; active: string; standby: string }[];
  redundancy: {
    service: string;
    members: string[];
    balancer?: string;
    reliable: boolean;
    testHelpers: boolean;
  }[];
}

const NAMES = ["api", "db", "dns", "etl", "geo", "lb", "mon", "net", "ops"];
const STAGES = ["test", "staging", "production"];

/** Random graphs of up to nine components, their hard dependencies without a cycle. */
export function randomGraph(): fc.Arbitrary<WrittenGraph> {
  return fc.integer({ min: 3, max: NAMES.length }).chain((size) => {
    // Dependencies lead to a later place of a shuffled order: no cycle, and no order by name.
    return fc.shuffledSubarray(NAMES, { minLength: size, maxLength: size }).chain((names) => {
      const some = (from: readonly string[], max: number) =>
        from.length === 0
          ? fc.constant<string[]>([])
          : fc.uniqueArray(fc.constantFrom(...from), { maxLength: max });
      const node = (name: string, at: number) =>
        fc.record(
          {
            tier: fc.integer({ min: 1, max: 6 }),
            stage: fc.constantFrom(...STAGES, "production", "production"),
            hard: some(names.slice(at + 1), 3),
            soft: some(
              names.filter((each) => each !== name),
              2,
            ),
            receives: some(
              names.filter((each) => each !== name),
              2,
            ),
            causes: fc.constantFrom<1 | 2 | 3 | 4>(1, 2, 3, 4),
          },
          { requiredKeys: ["tier", "stage", "hard", "soft", "receives"] },
        );
      const [a = "", b = "", c = ""] = names;
      const three = fc.shuffledSubarray(names, { minLength: 3, maxLength: 3 });
      return fc.record({
        stages: fc.constant(STAGES),
        components: fc
          .tuple(...names.map(node))
          .map((nodes) => Object.fromEntries(names.map((name, at) => [name, nodes[at]]))),
        failover: fc.array(
          three.map(([machinery = a, protects = b]) => ({ machinery, protects })),
          { maxLength: 2 },
        ),
        pairs: fc.array(
          three.map(([service = a, active = b, standby = c]) => ({ service, active, standby })),
          { maxLength: 2 },
        ),
        redundancy: fc.array(
          fc
            .record({
              of: three,
              balanced: fc.boolean(),
              reliable: fc.boolean(),
              testHelpers: fc.boolean(),
            })
            .map(({ of: [service = a, member = b, balancer = c], balanced, ...rest }) => ({
              service,
              members: [member],
              ...(balanced && { balancer }),
              ...rest,
            })),
          { maxLength: 2 },
        ),
      }) as fc.Arbitrary<WrittenGraph>;
    });
  });
}

/** The same graph, written in another order. */
export function turned(graph: WrittenGraph, by: number): WrittenGraph {
  const turn = <T>(list: readonly T[]): T[] => {
    const at = list.length === 0 ? 0 : by % list.length;
    return [...list.slice(at), ...list.slice(0, at)].reverse();
  };
  return {
    stages: graph.stages,
    components: Object.fromEntries(
      turn(Object.entries(graph.components)).map(([name, each]) => [
        name,
        {
          ...each,
          hard: turn(each.hard),
          soft: turn(each.soft),
          receives: turn(each.receives),
        },
      ]),
    ),
    failover: turn(graph.failover),
    pairs: turn(graph.pairs),
    redundancy: turn(graph.redundancy),
  };
}
