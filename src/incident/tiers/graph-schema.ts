import type * as Zod from "zod";
import { ProbelabError } from "../../base/error.js";
import { lazySchemas } from "../../base/lazy-schemas.js";
import { shown } from "../shown.js";
import { componentFault, faultsError, restFault, TIER_REMEDY } from "./graph-faults.js";

const schemas = lazySchemas(makeSchemas);

function makeSchemas({ z }: typeof Zod) {
  const names = z.union([z.string(), z.array(z.string())]).transform((given) => [given].flat());
  const optionalNames = names.nullish().transform((given) => given ?? []);

  const component = z.strictObject({
    tier: z.number().int().min(1).max(99),
    stage: z.string().nullish(),
    hard: optionalNames,
    soft: optionalNames,
    receives: optionalNames,
    contains: optionalNames,
    causes: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]).nullish(),
  });

  const rest = z.strictObject({
    stages: z.array(z.string().min(1)).min(1).max(20).nullish(),
    failover: z.array(z.strictObject({ machinery: z.string(), protects: z.string() })).nullish(),
    pairs: z
      .array(z.strictObject({ service: z.string(), active: z.string(), standby: z.string() }))
      .nullish(),
    redundancy: z
      .array(
        z.strictObject({
          service: z.string(),
          members: names,
          balancer: z.string().nullish(),
          reliable: z.boolean().nullish(),
          testHelpers: z.boolean().nullish(),
        }),
      )
      .nullish(),
  });
  return { component, rest };
}

type Schemas = ReturnType<typeof makeSchemas>;

/** A component as it is written. */
export type WrittenComponent = Zod.output<Schemas["component"]>;

/** A graph as it is written, each value of the right kind; names are not looked at yet. */
export interface WrittenGraph {
  readonly components: readonly (readonly [name: string, component: WrittenComponent])[];
  readonly rest: Zod.output<Schemas["rest"]>;
}

const MOST_COMPONENTS = 2_000;
const LONGEST_NAME = 200;

/**
 * The parts of a component graph, each of the right kind.
 *
 * @param source the graph's name for the error.
 * @throws ProbelabError with the first five places that are wrong.
 */
export function readGraphParts(content: unknown, source: string): WrittenGraph {
  const action = `Can't read the component graph ${shown(source)}`;
  const { components, ...others } = (isObject(content) ? content : {}) as Record<string, unknown>;
  const entries = isObject(components) ? Object.entries(components) : [];
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
  const read = entries.flatMap(([name, written]) => {
    if (name.trim() === "" || name.length > LONGEST_NAME) {
      faults.push(`a component's name has ${name.length} characters, not 1 to ${LONGEST_NAME}`);
    }
    if (!isObject(written)) {
      faults.push(`component ${shown(name)} has no tier: ${TIER_REMEDY}`);
      return [];
    }
    const { success, data, error } = schemas().component.safeParse(written);
    if (success) return [[name, data] as const];
    faults.push(...error.issues.map((issue) => componentFault(name, written, issue)));
    return [];
  });
  const rest = schemas().rest.safeParse(others);
  if (!rest.success) {
    faults.push(...rest.error.issues.map((issue) => restFault(others, issue)));
  }
  if (faults.length > 0 || !rest.success) throw faultsError(action, faults);
  return { components: read, rest: rest.data };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
