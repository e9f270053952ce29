import { shown } from "../shown.js";
import { findCycle } from "./find-cycle.js";
import type { Component, Graph } from "./graph.js";
import { faultsError } from "./graph-faults.js";
import { readGraphParts } from "./graph-schema.js";
import { pathText } from "./path-text.js";

const STAGES = ["staging", "production"];

/**
 * A graph of what a file or an object holds.
 *
 * @throws ProbelabError for a missing or impossible tier, an unknown name or stage, a component that
 *   depends on itself, and a cycle of hard dependencies or of contained components, with its path.
 */
export function buildGraph(content: unknown, source: string, asOf: Date): Graph {
  const { components: written, rest } = readGraphParts(content, source);
  const stages = rest.stages ?? STAGES;
  const highest = stages.at(-1) ?? "";
  const components = new Map(
    written
      .map(([name, each]): readonly [string, Component] => [
        name,
        {
          name,
          tier: each.tier,
          stage: each.stage ?? highest,
          hard: sorted(each.hard),
          soft: sorted(each.soft),
          receives: sorted(each.receives),
          contains: sorted(each.contains),
          causes: each.causes ?? null,
        },
      ])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const graph: Graph = {
    source,
    asOf,
    stages,
    components,
    failover: ordered(rest.failover ?? []),
    pairs: ordered(rest.pairs ?? []),
    redundancy: ordered(
      (rest.redundancy ?? []).map((each) => ({
        service: each.service,
        members: sorted(each.members),
        balancer: each.balancer ?? null,
        reliable: each.reliable ?? false,
        testHelpers: each.testHelpers ?? false,
      })),
    ),
  };
  const faults = [...stageFaults(graph), ...componentFaults(graph), ...groupFaults(graph)];
  if (faults.length > 0) {
    throw faultsError(`Can't read the component graph ${shown(source)}`, faults);
  }
  return graph;
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

/** In an order of their own, so that nothing hangs on that of the file. */
function ordered<T>(groups: readonly T[]): T[] {
  return groups
    .map((group) => ({ group, key: JSON.stringify(group) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ group }) => group);
}

function stageFaults({ stages, components }: Graph): string[] {
  const twice = stages.filter((stage, at) => stages.indexOf(stage) !== at);
  return [
    ...twice.map((stage) => `the stage ${shown(stage)} stands twice: write each once`),
    ...[...components.values()]
      .filter(({ stage }) => !stages.includes(stage))
      .map(
        ({ name, stage }) =>
          `component ${shown(name)} is at the stage ${shown(stage)}, which isn't known: write ${stages.map((each) => shown(each)).join(" or ")}, or add it to stages`,
      ),
  ];
}

const RELATIONS = ["hard", "soft", "receives", "contains"] as const;

function componentFaults(graph: Graph): string[] {
  const faults: string[] = [];
  for (const component of graph.components.values()) {
    for (const relation of RELATIONS) {
      for (const name of component[relation]) {
        if (name === component.name) {
          faults.push(`component ${shown(name)} names itself under ${relation}: take it out`);
        } else {
          faults.push(...unknown(graph, name, `component ${shown(component.name)}, ${relation}`));
        }
      }
    }
  }
  if (faults.length > 0) return faults;
  for (const relation of ["hard", "contains"] as const) {
    const cycle = findCycle(
      [...graph.components.keys()],
      (name) => graph.components.get(name)?.[relation] ?? [],
    );
    if (cycle === undefined) continue;
    const path = pathText(cycle);
    faults.push(
      relation === "hard"
        ? `hard dependencies run in a cycle, ${path}: none could ever start; make one of them soft`
        : `components contain each other in a cycle, ${path}: take one of them out of contains`,
    );
  }
  return faults;
}

/** Failover, pairs and redundancy. */
function groupFaults(graph: Graph): string[] {
  const { failover, pairs, redundancy } = graph;
  const of = (names: readonly string[], where: string): string[] => {
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    return [
      ...names.flatMap((name) => unknown(graph, name, where)),
      ...(twice === undefined ? [] : [`${where} names ${shown(twice)} twice: name each once`]),
    ];
  };
  return [
    ...failover.flatMap(({ machinery, protects }) => of([machinery, protects], "failover")),
    ...pairs.flatMap(({ service, active, standby }) => of([service, active, standby], "pairs")),
    ...redundancy.flatMap(({ service, members, balancer }) => [
      ...of([service, ...members, ...(balancer === null ? [] : [balancer])], "redundancy"),
      ...(members.length === 0
        ? [`redundancy of ${shown(service)} has no members: name them`]
        : []),
    ]),
  ];
}

function unknown(graph: Graph, name: string, where: string): string[] {
  if (graph.components.has(name)) return [];
  const lower = name.trim().toLowerCase();
  const meant = [...graph.components.keys()].find((each) => each.toLowerCase() === lower);
  return [
    `${where}: there is no component ${shown(name)}; ${meant === undefined ? "add it under components, or correct the name" : `write ${shown(meant)}`}`,
  ];
}
