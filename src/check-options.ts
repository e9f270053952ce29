import { editDistance } from "./database/table-info.js";
import { ProbelabError } from "./error.js";

/**
 * Refuses options that a function does not know: plain JavaScript has no compiler to find a misspelt
 * one, which would be left out silently.
 *
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
  const [near] = known
    .map((name) => ({ name, distance: editDistance(name.toLowerCase(), unknown.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const meant =
    near !== undefined && near.distance <= Math.max(2, unknown.length / 3)
      ? `did you mean ${near.name}? `
      : "";
  throw new ProbelabError(
    `Can't ${action} with the option ${JSON.stringify(unknown)}: ${meant}The options are ${known.join(", ")}.`,
  );
}
