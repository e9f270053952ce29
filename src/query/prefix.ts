import { ProbelabError } from "../base/error.js";

/** A filter on the beginning of a text column. */
export interface Prefix {
  readonly prefix: string;
  /** False: any continuation matches, as `LIKE 'text%'`. */
  readonly edge: boolean;
}

/**
 * Matches values that begin with `text`, up to the edge of a component: `prefix("3.8")` matches
 * 3.8, 3.8.1 and 3.8-beta, but neither 3.80 nor 3.81. An edge is where a row of digits or of letters ends.
 *
 * @param options `edge`: false matches any continuation (default true).
 * @throws ProbelabError for an empty text, which would match everything.
 * @example
 * const where = { software_version: prefix("3.8") };
 */
export function prefix(text: string, options: { edge?: boolean } = {}): Prefix {
  if (typeof text !== "string" || text === "") {
    throw new ProbelabError(
      `Can't match the prefix ${JSON.stringify(text) ?? "undefined"}: pass the beginning of a value, such as prefix("3.8").`,
    );
  }
  return Object.freeze({ prefix: text, edge: options.edge ?? true });
}

/** True for what `prefix()` made. */
export function isPrefix(value: unknown): value is Prefix {
  return typeof value === "object" && value !== null && "prefix" in value && "edge" in value;
}

/** The plain rule that the SQL follows. */
export function matchesPrefix(value: string, { prefix, edge }: Prefix): boolean {
  if (!value.startsWith(prefix)) return false;
  const goesOn = edge ? continuation(prefix) : null;
  return goesOn === null || !new RegExp(`^${goesOn}`, "u").test(value.slice(prefix.length));
}

/** The class of characters that would go on with the prefix's last component; null where it ended. */
export function continuation(prefix: string): string | null {
  if (/\d$/.test(prefix)) return "[0-9]";
  return /\p{L}$/u.test(prefix) ? "\\p{L}" : null;
}
