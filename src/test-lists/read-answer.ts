import { ProbelabError } from "../base/error.js";
import type { TestListEntry } from "./test-list.js";

/**
 * The entries of an answer of the test list endpoint, checked by its schema: an object with
 * `results`, an array of objects that each have a string `url`. Other fields are kept.
 *
 * @throws ProbelabError that names the entry that is none, counted from 1.
 */
export async function readAnswer(body: unknown, action: string): Promise<TestListEntry[]> {
  // zod takes a moment to load, and most notebooks and commands never ask for a test list.
  const { z } = await import("zod");
  const answer = z.looseObject({ results: z.array(z.looseObject({ url: z.string() })) });
  const { success, data, error } = answer.safeParse(body);
  if (success) return data.results;
  const [issue] = error.issues;
  const [, index, field] = issue?.path ?? [];
  if (typeof index !== "number") {
    throw new ProbelabError(
      `Can't ${action}: the answer has no array "results" (${issue?.message ?? "unknown"}). Look whether the baseUrl is the API's.`,
    );
  }
  const entry = (body as { results: unknown[] }).results[index];
  const shown = JSON.stringify(entry) ?? "nothing";
  throw new ProbelabError(
    `Can't ${action}: entry ${index + 1} of ${(body as { results: unknown[] }).results.length} ${field === "url" ? "has no string url" : "is no object"}: ${shown.length > 120 ? `${shown.slice(0, 119)}…` : shown}. Tell the service's operators.`,
  );
}
