import type * as Zod from "zod";
import { ProbelabError } from "../../base/error.js";
import { lazySchemas } from "../../base/lazy-schemas.js";
import { nearName } from "../../base/near-name.js";
import { shownValue } from "../../base/text.js";
import { pathText, type Component, type Failover, type Graph } from "./graph.js";

const MOST_COMPONENTS = 2_000;
const LONGEST_NAME = 200;
const MOST_FAULTS = 5;

const TIER = "write tier: 1 to 4 by the highest severity it can cause, 5 for pre-production";
const CAUSES = "write the highest severity it can cause, 1 to 4, or leave it out";
const NAME = "write the name of a component, in quotes where it looks like a number";
const NAMES =
  "write a name or a list of names, such as [api, database], in quotes where one looks like a number";
const STAGES = "write 1 to 20 names from the lowest to the highest, such as [staging, production]";

// A field's message says what to write there.
const schemas = lazySchemas(({ z }) => {
  const name = z.string(NAME);
  const names = z
    .union([z.string(), z.array(z.string())], NAMES)
    .transform((given) => [...new Set([given].flat())].sort());
  const optionalNames = names.nullish().transform((given) => given ?? []);
  const flag = z
    .boolean("write true or false")
    .nullish()
    .transform((given) => given ?? false);
  const component = z.strictObject({
    tier: z.number(TIER).int(TIER).min(1, TIER).max(99, TIER),
    stage: z.string("write one of the stages").nullish(),
    hard: optionalNames,
    soft: optionalNames,
    receives: optionalNames,
    contains: optionalNames,
    causes: z
      .literal([1, 2, 3, 4], CAUSES)
      .nullish()
      .transform((given) => given ?? null),
  });
  const entries = {
    failover: z.strictObject({ machinery: name, protects: name }),
    pairs: z.strictObject({ service: name, active: name, standby: name }),
    redundancy: z.strictObject({
      service: name,
      members: names,
      balancer: name.nullish().transform((given) => given ?? null),
      reliable: flag,
      testHelpers: flag,
    }),
  };
  const rest = z.strictObject({
    stages: z
      .array(z.string(STAGES).min(1, STAGES), STAGES)
      .min(1, STAGES)
      .max(20, STAGES)
      .default(["staging", "production"]),
    failover: z.array(entries.failover).default([]),
    pairs: z.array(entries.pairs).default([]),
    redundancy: z.array(entries.redundancy).default([]),
  });
  return { component, entries, rest };
});

/**
 * A graph of what a file or an object holds.
 *
 * @throws ProbelabError for a missing or impossible tier, an unknown name or stage, a component that
 *   depends on itself, and a cycle of hard dependencies or of contained components, with its path.
 */
export function buildGraph(content: unknown, source: string, asOf: Date): Graph {
  const action = `Can't read the component graph ${shownValue(source)}`;
  const { components: written, ...others } = isObject(content) ? content : {};
  const entries = isObject(written) ? Object.entries(written) : [];
  if (entries.length === 0) {
    throw new ProbelabError(
      `${action}: it has no components; write "components:", and below it each name with its tier.`,
    );
  }
  if (entries.length > MOST_COMPONENTS) {
    throw new ProbelabError(
      `${action}: it has ${entries.length.toLocaleString("en-US")} components, more than ${MOST_COMPONENTS.toLocaleString("en-US")}; split it by service.`,
    );
  }
  const faults: string[] = [];
  // null is as good as leaving it out.
  const rest = schemas().rest.safeParse(
    Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null)),
  );
  const read = entries.flatMap(([name, component]) => {
    if (name.trim() === "" || name.length > LONGEST_NAME) {
      faults.push(`a component's name has ${name.length} characters, not 1 to ${LONGEST_NAME}`);
    }
    if (!isObject(component)) {
      faults.push(`component ${shownValue(name)} has no tier: ${TIER}`);
      return [];
    }
    const { data, error } = schemas().component.safeParse(component);
    faults.push(...(error?.issues ?? []).map((issue) => componentFault(name, component, issue)));
    return data === undefined ? [] : [{ name, ...data }];
  });
  faults.push(...(rest.error?.issues ?? []).map((issue) => restFault(others, issue)));
  if (!rest.success || faults.length > 0) throw faultsError(action, faults);
  const { stages, failover, pairs, redundancy } = rest.data;
  const production = stages.at(-1) ?? "";
  const components = new Map(
    read
      .map((each): Component => ({ ...each, stage: each.stage ?? production }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((each) => [each.name, each]),
  );
  const balancers = redundancy.flatMap(({ service, balancer }): Failover[] =>
    balancer === null ? [] : [{ machinery: balancer, protects: service }],
  );
  const graph: Graph = {
    source,
    asOf,
    stages,
    components,
    failover: sorted([...failover, ...balancers]),
    pairs: sorted(pairs),
    redundancy: sorted(redundancy),
  };
  const wrong = [
    ...stageFaults(graph),
    ...componentFaults(graph),
    ...groupFaults({ ...graph, failover }),
  ];
  if (wrong.length > 0) throw faultsError(action, wrong);
  return graph;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Each once, in an order of their own: nothing depends on that of the file. */
function sorted<T>(groups: readonly T[]): T[] {
  const keyed = groups.map((group) => [JSON.stringify(group), group] as const);
  keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return [...new Map(keyed).values()];
}

/** The first faults as one error. */
function faultsError(action: string, faults: readonly string[]): ProbelabError {
  const more = faults.length - MOST_FAULTS;
  return new ProbelabError(
    `${action}: ${faults.slice(0, MOST_FAULTS).join("; ")}${more > 0 ? `; and ${more.toLocaleString("en-US")} more` : ""}.`,
  );
}

function componentFault(name: string, component: object, issue: Zod.core.$ZodIssue): string {
  return fieldFault(`component ${shownValue(name)}`, component, issue, schemas().component.shape);
}

/** What is wrong beside the components. */
function restFault(rest: Readonly<Record<string, unknown>>, issue: Zod.core.$ZodIssue): string {
  const [part, at] = issue.path;
  const { entries } = schemas();
  if (part === undefined) {
    const known = { components: 0, ...schemas().rest.shape };
    return fieldFault("it", rest, issue, known);
  }
  const list = rest[String(part)];
  if (part === "stages") return `stages: ${shownValue(list)}; ${issue.message}`;
  const shape = entries[String(part) as keyof typeof entries].shape;
  const written = `{ ${Object.keys(shape)
    .map((each) => `${each}: …`)
    .join(", ")} }`;
  if (at === undefined) return `${String(part)}: ${shownValue(list)}; write a list, [${written}]`;
  const entry = (list as readonly unknown[])[Number(at)];
  const of = `entry ${Number(at) + 1} of ${String(part)}`;
  return isObject(entry)
    ? fieldFault(of, entry, { ...issue, path: issue.path.slice(2) }, shape)
    : `${of} is ${shownValue(entry)}; write ${written}`;
}

/** What is wrong with a field of an object. */
function fieldFault(
  of: string,
  object: object,
  issue: Zod.core.$ZodIssue,
  shape: Readonly<Record<string, unknown>>,
): string {
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(shape);
    const near = issue.keys.flatMap((key) => nearName(key, known) ?? []);
    const meant = near.length === 0 ? "" : ` (did you mean ${near.join(", ")}?)`;
    return `${of} has ${issue.keys.map((key) => shownValue(key)).join(", ")}, which isn't known: write ${known.join(", ")}${meant}`;
  }
  const field = String(issue.path[0]);
  const value = (object as Readonly<Record<string, unknown>>)[field];
  return value === undefined || value === null
    ? `${of} has no ${field}: ${issue.message}`
    : `${of} has ${field}: ${shownValue(value)}; ${issue.message}`;
}

function stageFaults({ stages, components }: Graph): string[] {
  const twice = stages.filter((stage, at) => stages.indexOf(stage) !== at);
  return [
    ...twice.map((stage) => `the stage ${shownValue(stage)} stands twice: write each once`),
    ...[...components.values()]
      .filter(({ stage }) => !stages.includes(stage))
      .map(
        ({ name, stage }) =>
          `component ${shownValue(name)} is at the stage ${shownValue(stage)}, which isn't known: write ${stages.map((each) => shownValue(each)).join(" or ")}, or add it to stages`,
      ),
  ];
}

function componentFaults(graph: Graph): string[] {
  const faults: string[] = [];
  for (const component of graph.components.values()) {
    for (const relation of ["hard", "soft", "receives", "contains"] as const) {
      for (const name of component[relation]) {
        if (name === component.name) {
          faults.push(`component ${shownValue(name)} names itself under ${relation}: take it out`);
        } else {
          faults.push(
            ...unknown(graph, name, `component ${shownValue(component.name)}, ${relation}`),
          );
        }
      }
    }
  }
  if (faults.length > 0) return faults;
  const hard = findCycle(graph, "hard");
  const contains = findCycle(graph, "contains");
  return [
    ...(hard === undefined
      ? []
      : [
          `hard dependencies run in a cycle, ${pathText(hard)}: none could ever start; make one of them soft`,
        ]),
    ...(contains === undefined
      ? []
      : [
          `components contain each other in a cycle, ${pathText(contains)}: take one of them out of contains`,
        ]),
  ];
}

/**
 * A cycle, its first name again at its end; undefined where there is none. Depth first with three
 * colours (Cormen et al., Introduction to Algorithms, 22.3), without recursion: a chain may be
 * thousands of components long.
 */
function findCycle({ components }: Graph, relation: "hard" | "contains"): string[] | undefined {
  const done = new Set<string>();
  for (const start of components.keys()) {
    const path: string[] = [];
    const on = new Set<string>();
    const open = [[start]];
    while (open.length > 0) {
      const name = open.at(-1)?.pop();
      if (name === undefined) {
        open.pop();
        const left = path.pop();
        if (left === undefined) continue;
        on.delete(left);
        done.add(left);
      } else if (on.has(name)) {
        return [...path.slice(path.indexOf(name)), name];
      } else if (!done.has(name)) {
        path.push(name);
        on.add(name);
        // The first is taken from the end.
        open.push([...(components.get(name)?.[relation] ?? [])].reverse());
      }
    }
  }
  return undefined;
}

/** What is wrong with failover, pairs and redundancy. */
function groupFaults(graph: Graph): string[] {
  const { failover, pairs, redundancy } = graph;
  const of = (names: readonly string[], where: string): string[] => {
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    return [
      ...names.flatMap((name) => unknown(graph, name, where)),
      ...(twice === undefined ? [] : [`${where} names ${shownValue(twice)} twice: name each once`]),
    ];
  };
  return [
    ...failover.flatMap(({ machinery, protects }) => of([machinery, protects], "failover")),
    ...pairs.flatMap(({ service, active, standby }) => of([service, active, standby], "pairs")),
    ...redundancy.flatMap(({ service, members, balancer }) => [
      ...of([service, ...members, ...(balancer === null ? [] : [balancer])], "redundancy"),
      ...(members.length === 0
        ? [`redundancy of ${shownValue(service)} has no members: name them`]
        : []),
    ]),
  ];
}

function unknown({ components }: Graph, name: string, where: string): string[] {
  if (components.has(name)) return [];
  const lower = name.trim().toLowerCase();
  const meant = [...components.keys()].find((each) => each.toLowerCase() === lower);
  return [
    `${where}: there is no component ${shownValue(name)}; ${meant === undefined ? "add it under components, or correct the name" : `write ${shownValue(meant)}`}`,
  ];
}
