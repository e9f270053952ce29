import { redact } from "./redact.js";

/**
 * An error that says what to do: the action and the current value, then the remedy.
 * `code` keeps ClickHouse's error name (such as `UNKNOWN_TABLE`) where the server sent one. No
 * password is in it, nor in what caused it.
 */
export class ProbelabError extends Error {
  readonly code: string | undefined;

  constructor(message: string, options: ErrorOptions & { code?: string } = {}) {
    redactError(options.cause);
    super(redact(message), options);
    this.name = "ProbelabError";
    this.code = options.code;
  }
}

/**
 * A notebook prints the causes of an error, too, and all that they hold: Node's keep the URL in
 * `input`. A chain may be a circle, or have no end.
 */
function redactError(error: unknown, seen = new Set<unknown>()): void {
  if (!(error instanceof Error) || seen.has(error) || seen.size > 50) return;
  seen.add(error);
  for (const name of ["message", "stack", "cause", "errors", ...Object.keys(error)]) {
    try {
      const value: unknown = Reflect.get(error, name);
      if (typeof value !== "string")
        for (const inner of Array.isArray(value) ? value : [value]) redactError(inner, seen);
      // False, without a word, for an error that somebody froze.
      else if (redact(value) !== value) Reflect.set(error, name, redact(value));
    } catch {
      // A getter that throws shows no secret.
    }
  }
}

/** An answer; null where a column, a right or memory for it is missing: the rest is still worth telling. @throws what an interrupt throws. */
export async function optional<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ProbelabError && error.code !== "ABORTED") return null;
    throw error;
  }
}
