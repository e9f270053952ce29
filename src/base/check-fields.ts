import type * as Zod from "zod";
import { ProbelabError } from "./error.js";
import { nearName } from "./near-name.js";
import { shownValue } from "./text.js";

/**
 * Refuses an object that a strict schema doesn't take: TypeScript says so too, but plain JavaScript
 * and `any` pass it by. The message of each of the schema's fields says what to pass.
 *
 * @param action what was asked, for the error: "draw a graph".
 * @throws ProbelabError that names the field, and the known one that it is probably meant to be.
 */
export function checkFields(schema: Zod.ZodObject, given: unknown, action: string): void {
  const names = Object.keys(schema.shape);
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new ProbelabError(
      `Can't ${action} with options ${shownValue(given)}: pass an object, { ${names[0]}: … }; it may have ${names.join(", ")}.`,
    );
  }
  const issue = schema.safeParse(given).error?.issues[0];
  if (issue === undefined) return;
  if (issue.code === "unrecognized_keys") {
    const [key = ""] = issue.keys;
    const near = nearName(key, names);
    const known =
      names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
    const meant = near === undefined ? "pass" : `did you mean ${near}? Pass`;
    throw new ProbelabError(
      `Can't ${action} with ${/^[\w$]{1,60}$/.test(key) ? key : shownValue(key)}: ${meant} ${known}.`,
    );
  }
  const name = String(issue.path[0]);
  const value = (given as Readonly<Record<string, unknown>>)[name];
  throw new ProbelabError(
    `Can't ${action} with ${name}: ${shownValue(value)}: pass ${issue.message}.`,
  );
}
