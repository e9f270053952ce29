import { redact } from "./redact.js";

/**
 * An error that tells the analyst what to do: the action and the current value, then the remedy.
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

/** A notebook prints the causes of an error, too. */
function redactError(error: unknown): void {
  if (!(error instanceof Error)) return;
  for (const name of ["message", "stack"] as const) {
    const text = error[name];
    if (typeof text !== "string") continue;
    const plain = redact(text);
    if (plain === text) continue;
    try {
      error[name] = plain;
    } catch {
      // One that can't be changed belongs to somebody who froze it.
    }
  }
  redactError(error.cause);
}
