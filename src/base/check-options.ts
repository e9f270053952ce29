import { ProbelabError } from "./error.js";
import { nearName } from "./near-name.js";
import { shownValue } from "./text.js";

/** The values of an option: TypeScript checks them too, but not for plain JavaScript and `any`. */
export interface Rule {
  fits(this: void, value: unknown): boolean;
  /** The remedy, after "pass ". */
  readonly pass: string;
}

/** A rule for each option, none left out and none too many: the names can't drift from the types. */
export type Rules<Options> = Readonly<Record<keyof Options, Rule>>;

/** True for an object of members: no list, nor null. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Refuses what is no filter: a variable that holds nothing must not make the question one about everything.
 *
 * @throws ProbelabError
 */
export function checkWhere(where: unknown): void {
  if (where === undefined || isPlain(where)) return;
  throw new ProbelabError(
    `Can't filter by ${shownValue(where)}: pass columns and their values, such as where: { probe_cc: "IT" }.`,
  );
}

/**
 * Refuses options that a function does not know: plain JavaScript has no compiler to find a misspelt
 * one, which would do nothing silently.
 *
 * @param action what was asked, for the error: "count measurements".
 * @throws ProbelabError that names the option, and the known one that it is probably meant to be.
 * @example
 * refuseUnknown({ idenifier: "nginx" }, ["identifier", "range"], "search the logs");
 * // Can't search the logs with the option "idenifier": did you mean identifier? …
 */
export function refuseUnknown(
  options: object | undefined,
  known: readonly string[],
  action: string,
): void {
  if (options === undefined) return;
  if (!isPlain(options)) {
    throw new ProbelabError(
      `Can't ${action} with ${shownValue(options)}: pass an object of options, such as { ${known[0] ?? ""}: … }.`,
    );
  }
  if (known.includes("where")) checkWhere(options["where"]);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = nearName(unknown, known);
  throw new ProbelabError(
    `Can't ${action} with the option ${shownValue(unknown)}: ${near === undefined ? "" : `did you mean ${near}? `}The options are ${known.join(", ")}.`,
  );
}

/**
 * Refuses options that a function does not know, and values that an option does not take.
 *
 * @param action what was asked, for the error: "draw a chart".
 * @throws ProbelabError that names the option, and what to pass instead.
 */
export function checkOptions(
  options: unknown,
  rules: Readonly<Record<string, Rule>>,
  action: string,
): void {
  refuseUnknown(options as object, Object.keys(rules), action);
  for (const [name, value] of Object.entries(options ?? {})) {
    const rule = rules[name];
    if (value === undefined || rule === undefined || rule.fits(value)) continue;
    throw new ProbelabError(
      `Can't ${action} with ${name}: ${shownValue(value)}: pass ${rule.pass}.`,
    );
  }
}
