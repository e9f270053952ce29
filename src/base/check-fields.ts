import type * as Zod from "zod";
import { refuseUnknown } from "./check-options.js";
import { ProbelabError } from "./error.js";
import { shownValue } from "./text.js";

/**
 * Refuses an object that a strict schema doesn't take: TypeScript says so too, but plain JavaScript
 * and `any` pass it by. The message of each of the schema's fields says what to pass.
 *
 * @param action what was asked, for the error: "draw a graph".
 * @throws ProbelabError that names the field, and the known one that it is probably meant to be.
 */
export function checkFields(schema: Zod.ZodObject, given: unknown, action: string): void {
  refuseUnknown((given ?? null) as object, Object.keys(schema.shape), action);
  const issue = schema.safeParse(given).error?.issues[0];
  if (issue === undefined) return;
  const name = String(issue.path[0]);
  const value = (given as Readonly<Record<string, unknown>>)[name];
  throw new ProbelabError(
    `Can't ${action} with ${name}: ${shownValue(value)}: pass ${issue.message}.`,
  );
}
