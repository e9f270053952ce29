import { ProbelabError } from "./error.js";
import { nearName } from "./near-name.js";

/**
 * Refuses options that a function doesn't know: a misspelt one would silently do nothing.
 *
 * @param action what was asked, for the error: "count measurements".
 */
export function refuseUnknown(
  options: object | undefined,
  known: readonly string[],
  action: string,
): void {
  for (const name of Object.keys(options ?? {})) {
    if (known.includes(name)) continue;
    const near = nearName(name, known);
    const meant = near === undefined ? "" : ` Did you mean ${near}?`;
    throw new ProbelabError(
      `Can't ${action} with the option ${JSON.stringify(name)}: there is no such option.${meant} The options are ${known.join(", ")}.`,
    );
  }
}
