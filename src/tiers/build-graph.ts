import type * as Zod from "zod";
import { ProbelabError } from "../base/error.js";
import { lazySchemas } from "../base/lazy-schemas.js";
import { nearName } from "../base/near-name.js";
import { counted, shownValue } from "../base/text.js";
import { pathText, type Component, type Failover, type Graph } from "./graph.js";

const MOST_COMPONENTS = 2_000;
const LONGEST_NAME = 200;
const MOST_FAULTS = 5;

// Each field's message says what to write there. A field that is null is left out before.
const schemas = lazySchemas(({ z }) => {
  const tier = "write tier: 1 to 4 by the highest severity it can cause, 5 for pre-production";
  const stages =
    "write 1 to 20 names from the lowest to the highest, such as [staging, production]";
  const name = z.string("write the name of a component, in quotes where it looks like a number");
  const names = z
    .union(
      [z.string(), z.array(z.string())],
      "write a name or a list of names, such as [api, database], in quotes where one looks like a number",
    )
    .transform((given) => [...new Set([given].flat())].sort());
  const flag = z.boolean("write true or false").default(false);
  const failover = z.strictObject({ machinery: name, protects: name });
  const pairs = z.strictObject({ service: name, active: name, standby: name });
  const redundancy = z.strictObject({
    service: name,
    members: names,
    balancer: name.nullable().default(null),
    reliable: flag,
    testHelpers: flag,
  });
  const list = (entry: Zod.ZodObject) =>
    z.array(z.unknown(), `write a list, [${formOf(entry)}]`).default([]);
  return {
    component: z.strictObject({
      tier: z.number(tier).int(tier).min(1, tier).max(99, tier),
      stage: z.string("write one of the stages").optional(),
      hard: names.default([]),
      soft: names.default([]),
      receives: names.default([]),
      contains: names.default([]),
      causes: z
        .literal([1, 2, 3, 4], "write the highest severity it can cause, 1 to 4, or leave it out")
        .nullable()
        .default(null),
    }),
    failover,
    pairs,
    redundancy,
    file: z.strictObject({
      components: z.unknown(),
      stages: z
        .array(z.string(stages).min(1, stages), stages)
        .min(1, stages)
        .max(20, stages)
        .default(["staging", "production"]),
      failover: list(failover),
      pairs: list(pairs),
      redundancy: list(redundancy),
    }),
  };
});

/**
 * A graph of what a file or an object holds.
 *
 * @throws ProbelabError for a missing or impossible tier, an unknown name or stage, a component that
 *   depends on itself, and a cycle of hard dependencies or of contained components, with its path.
 */
export function buildGraph(content: unknown, source: string, asOf: Date): Graph {
  const action = `Can't read the component graph ${shownValue(source)}`;
  const written = isObject(content) ? content : {};
  const { components: named } = written;
  const entries = isObject(named) ? Object.entries(named) : [];
  if (entries.length === 0) {
    throw new ProbelabError(
      `${action}: it has no components; write "components:", and below it each name with its tier.`,
    );
  }
  if (entries.length > MOST_COMPONENTS) {
    throw new ProbelabError(
      `${action}: it has ${counted(entries.length, "component")}, more than ${MOST_COMPONENTS.toLocaleString("en-US")}; split it by service.`,
    );
  }
  const faults: string[] = [];
  const read = <Schema extends Zod.ZodObject>(
    schema: Schema,
    value: unknown,
    place: string,
  ): Zod.output<Schema>[] => {
    if (!isObject(value)) {
      faults.push(`${place} is ${shownValue(value)}; write ${formOf(schema)}`);
      return [];
    }
    const told = Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null));
    const { data, error } = schema.safeParse(told);
    const known = Object.keys(schema.shape);
    faults.push(...(error?.issues ?? []).map((issue) => faultOf(place, told, issue, known)));
    return data === undefined ? [] : [data];
  };
  const tellFaults = (): void => {
    if (faults.length === 0) return;
    const more = faults.length - MOST_FAULTS;
    throw new ProbelabError(
      `${action}: ${faults.slice(0, MOST_FAULTS).join("; ")}${more > 0 ? `; and ${more.toLocaleString("en-US")} more` : ""}.`,
    );
  };

  const each = schemas();
  const components = entries.flatMap(([name, value]) => {
    if (name.trim() === "" || name.length > LONGEST_NAME) {
      faults.push(`a component's name has ${name.length} characters, not 1 to ${LONGEST_NAME}`);
    }
    const component = isObject(value) ? value : {};
    const found = read(each.component, component, `component ${shownValue(name)}`);
    return found.map((fields) => ({ name, ...fields }));
  });
  const [file = each.file.parse({ components: {} })] = read(each.file, written, "it");
  const group = <Kind extends "failover" | "pairs" | "redundancy">(kind: Kind) =>
    file[kind].flatMap((value, at) => read(each[kind], value, `entry ${at + 1} of ${kind}`));
  const groups = {
    failover: group("failover"),
    pairs: group("pairs"),
    redundancy: group("redundancy"),
  };
  tellFaults();

  const { stages } = file;
  const production = stages.at(-1) ?? "";
  const balancers = groups.redundancy.flatMap(({ service, balancer }): Failover[] =>
    balancer === null ? [] : [{ machinery: balancer, protects: service }],
  );
  const graph: Graph = {
    source,
    asOf,
    stages,
    components: new Map(
      components
        .map((component): Component => ({ ...component, stage: component.stage ?? production }))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((component) => [component.name, component]),
    ),
    failover: inOrder([...groups.failover, ...balancers]),
    pairs: inOrder(groups.pairs),
    redundancy: inOrder(groups.redundancy),
  };
  faults.push(...nameFaults({ ...graph, failover: groups.failover }));
  if (faults.length === 0) faults.push(...cycleFaults(graph));
  tellFaults();
  return graph;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `{ machinery: …, protects: … }` */
function formOf({ shape }: Zod.ZodObject): string {
  const fields = Object.keys(shape).map((name) => `${name}: …`);
  return `{ ${fields.join(", ")} }`;
}

/** Each once, in an order that doesn't depend on that of the file. */
function inOrder<T>(groups: readonly T[]): T[] {
  const keyed = new Map(groups.map((group) => [JSON.stringify(group), group]));
  return [...keyed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

/** What is wrong with a field. */
function faultOf(
  place: string,
  written: Readonly<Record<string, unknown>>,
  issue: Zod.core.$ZodIssue,
  known: readonly string[],
): string {
  if (issue.code === "unrecognized_keys") {
    const near = issue.keys.flatMap((key) => nearName(key, known) ?? []);
    const meant = near.length === 0 ? "" : ` (did you mean ${near.join(", ")}?)`;
    return `${place} has ${issue.keys.map((key) => shownValue(key)).join(", ")}, which isn't known: write ${known.join(", ")}${meant}`;
  }
  const field = String(issue.path[0]);
  const value = written[field];
  return value === undefined
    ? `${place} has no ${field}: ${issue.message}`
    : `${place} has ${field}: ${shownValue(value)}; ${issue.message}`;
}

/** Names of components and stages that aren't there, or stand where they can't. */
function nameFaults({ stages, components, failover, pairs, redundancy }: Graph): string[] {
  const faults: string[] = [];
  for (const stage of stages.filter((name, at) => stages.indexOf(name) !== at)) {
    faults.push(`the stage ${shownValue(stage)} stands twice: write each once`);
  }
  const checkName = (name: string, where: string): void => {
    if (components.has(name)) return;
    const lower = name.trim().toLowerCase();
    const meant = [...components.keys()].find((other) => other.toLowerCase() === lower);
    faults.push(
      `${where}: there is no component ${shownValue(name)}; ${meant === undefined ? "add it under components, or correct the name" : `write ${shownValue(meant)}`}`,
    );
  };
  for (const { name, stage, ...relations } of components.values()) {
    const component = `component ${shownValue(name)}`;
    if (!stages.includes(stage)) {
      const known = stages.map((other) => shownValue(other)).join(" or ");
      faults.push(
        `${component} is at the stage ${shownValue(stage)}, which isn't known: write ${known}, or add it to stages`,
      );
    }
    for (const relation of ["hard", "soft", "receives", "contains"] as const) {
      for (const other of relations[relation]) {
        if (other === name) faults.push(`${component} names itself under ${relation}: take it out`);
        else checkName(other, `${component}, ${relation}`);
      }
    }
  }
  const checkGroup = (names: readonly string[], where: string): void => {
    for (const name of names) checkName(name, where);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) {
      faults.push(`${where} names ${shownValue(twice)} twice: name each once`);
    }
  };
  for (const each of failover) checkGroup([each.machinery, each.protects], "failover");
  for (const each of pairs) checkGroup([each.service, each.active, each.standby], "pairs");
  for (const { service, members, balancer } of redundancy) {
    checkGroup([service, ...members, ...(balancer === null ? [] : [balancer])], "redundancy");
    if (members.length === 0) {
      faults.push(`redundancy of ${shownValue(service)} has no members: name them`);
    }
  }
  return faults;
}

function cycleFaults({ components }: Graph): string[] {
  const hard = cycleIn(new Map([...components].map(([name, each]) => [name, each.hard])));
  const contains = cycleIn(new Map([...components].map(([name, each]) => [name, each.contains])));
  return [
    ...(hard.length > 0
      ? [
          `hard dependencies run in a cycle, ${pathText(hard)}: none could ever start; make one of them soft`,
        ]
      : []),
    ...(contains.length > 0
      ? [
          `components contain each other in a cycle, ${pathText(contains)}: take one of them out of contains`,
        ]
      : []),
  ];
}

/** A cycle, its first name again at its end; empty where there is none. */
function cycleIn(left: Map<string, readonly string[]>): string[] {
  // What leads nowhere is in no cycle, nor is what leads only there.
  for (let before = Infinity; left.size < before;) {
    before = left.size;
    for (const [name, next] of left) if (!next.some((to) => left.has(to))) left.delete(name);
  }
  const path: string[] = [];
  let name = left.keys().next().value;
  while (name !== undefined && !path.includes(name)) {
    path.push(name);
    name = left.get(name)?.find((to) => left.has(to));
  }
  return name === undefined ? [] : [...path.slice(path.indexOf(name)), name];
}
