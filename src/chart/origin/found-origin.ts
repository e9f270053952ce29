import { ProbelabError } from "../../base/error.js";
import type { Json } from "../../result/json.js";
import { redactedJson } from "../origin-record.js";

/** Where a chart comes from, as it was found in a file. */
export interface FoundOrigin {
  /** The chart's title, where the file tells it. */
  readonly title?: string;
  /** The record that `originRecord` made, without credentials even where a foreign one had some. */
  readonly origin: Readonly<Record<string, Json>>;
}

/**
 * The origin that a file's text holds; undefined for JSON's null, which a chart without one has.
 *
 * @throws ProbelabError where the text is no JSON of an object.
 */
export function foundOrigin(json: string, title?: string): FoundOrigin | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw brokenOrigin(error);
  }
  return originOf(value, title);
}

/** The same of a value that was parsed already. */
export function originOf(value: unknown, title?: string): FoundOrigin | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== "object" || Array.isArray(value)) throw brokenOrigin();
  if (Object.keys(value).length === 0) return undefined;
  if (!["sql", "range", "source"].some((name) => Object.hasOwn(value, name))) throw brokenOrigin();
  const named = title === undefined || title.trim() === "" ? {} : { title };
  try {
    return { ...named, origin: redactedJson(value) as Record<string, Json> };
  } catch (error) {
    throw brokenOrigin(error);
  }
}

function brokenOrigin(cause?: unknown): ProbelabError {
  return new ProbelabError(
    "its origin isn't a record as probelab writes it: it was changed or damaged; export the chart again.",
    { cause },
  );
}

/** A file that its own format doesn't allow. @param what such as `PNG`. */
export function damagedFile(what: string, why: string, cause?: unknown): ProbelabError {
  return new ProbelabError(
    `it begins as ${what}, but ${why}: it was cut short or damaged; export it again.`,
    { cause },
  );
}
