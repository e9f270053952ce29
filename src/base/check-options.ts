import { ProbelabError } from "./error.js";
import { nearName } from "./near-name.js";

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
  if (typeof options !== "object" || options === null) {
    throw new ProbelabError(
      `Can't ${action} with ${JSON.stringify(options) ?? String(options)}: pass an object of options, such as { ${known[0] ?? ""}: … }.`,
    );
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = nearName(unknown, known);
  throw new ProbelabError(
    `Can't ${action} with the option ${JSON.stringify(unknown)}: ${near === undefined ? "" : `did you mean ${near}? `}The options are ${known.join(", ")}.`,
  );
}
