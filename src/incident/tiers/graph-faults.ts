import type * as Zod from "zod";
import { nearName } from "../../base/near-name.js";
import { ProbelabError } from "../../base/error.js";
import { shown } from "../shown.js";
import type { WrittenComponent, WrittenGraph } from "./graph-schema.js";

const MOST_TOLD = 5;

/** What to write where a component has no tier. */
export const TIER_REMEDY =
  "write tier: 1 to 4 by the highest severity it can cause, 5 for pre-production";

const NAME = "write the name of a component, in quotes where it looks like a number";
const NAMES =
  "write a name or a list of names, such as [api, database], in quotes where one looks like a number";
const FLAG = "write true or false";

// What zod's messages don't tell.
const COMPONENT: Readonly<Record<string, string>> = {
  tier: TIER_REMEDY,
  stage: "write one of the stages",
  hard: NAMES,
  soft: NAMES,
  receives: NAMES,
  contains: NAMES,
  causes: "write the highest severity it can cause, 1 to 4, or leave it out",
} satisfies Record<keyof WrittenComponent, string>;

type Parts = Required<Omit<WrittenGraph["rest"], "stages">>;
type Fields<List> = List extends readonly (infer Entry)[] ? Record<keyof Entry, string> : never;

const PARTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  failover: { machinery: NAME, protects: NAME },
  pairs: { service: NAME, active: NAME, standby: NAME },
  redundancy: { service: NAME, members: NAMES, balancer: NAME, reliable: FLAG, testHelpers: FLAG },
} satisfies { [Part in keyof Parts]: Fields<NonNullable<Parts[Part]>> };
const KNOWN = ["components", "stages", ...Object.keys(PARTS)];

/** The first faults as one error. */
export function faultsError(action: string, faults: readonly string[]): ProbelabError {
  const more = faults.length - MOST_TOLD;
  return new ProbelabError(
    `${action}: ${faults.slice(0, MOST_TOLD).join("; ")}${more > 0 ? `; and ${more.toLocaleString("en-US")} more` : ""}.`,
  );
}

/** What is wrong with a component. */
export function componentFault(name: string, written: object, issue: Zod.core.$ZodIssue): string {
  const of = `component ${shown(name)}`;
  if (issue.code === "unrecognized_keys") {
    return `${of} has ${unknownKeys(issue.keys, Object.keys(COMPONENT))}`;
  }
  const field = String(issue.path[0] ?? "");
  const value = (written as Record<string, unknown>)[field];
  if (field === "tier" && (value === undefined || value === null)) {
    return `${of} has no tier: ${TIER_REMEDY}`;
  }
  return `${of} has ${field}: ${told(value)}; ${COMPONENT[field] ?? NAMES}`;
}

/** What is wrong beside the components. */
export function restFault(rest: object, issue: Zod.core.$ZodIssue): string {
  const [part, at, field] = issue.path;
  const fields = PARTS[String(part)] ?? {};
  const of = `entry ${Number(at) + 1} of ${String(part)}`;
  if (issue.code === "unrecognized_keys") {
    return part === undefined
      ? `it has ${unknownKeys(issue.keys, KNOWN)}`
      : `${of} has ${unknownKeys(issue.keys, Object.keys(fields))}`;
  }
  const shape = `{ ${Object.keys(fields)
    .map((each) => `${each}: …`)
    .join(", ")} }`;
  const value = issue.path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    rest,
  );
  if (part === "stages") {
    const { stages } = rest as { readonly stages?: unknown };
    return `stages: ${told(stages)}; write 1 to 20 names from the lowest to the highest, such as [staging, production]`;
  }
  if (at === undefined) return `${String(part)}: ${told(value)}; write a list, [${shape}]`;
  if (field === undefined) return `${of} is ${told(value)}; write ${shape}`;
  const remedy = fields[String(field)] ?? NAME;
  return value === undefined || value === null
    ? `${of} has no ${String(field)}: ${remedy}`
    : `${of} has ${String(field)}: ${told(value)}; ${remedy}`;
}

function unknownKeys(keys: readonly string[], known: readonly string[]): string {
  const near = keys.flatMap((key) => nearName(key, known) ?? []);
  const meant = near.length === 0 ? "" : ` (did you mean ${near.join(", ")}?)`;
  return `${keys.map((key) => shown(key)).join(", ")}, which isn't known: write ${known.join(", ")}${meant}`;
}

/** A value, which can hold itself by an alias. */
function told(value: unknown): string {
  try {
    return shown(value);
  } catch {
    return "a value that holds itself";
  }
}
