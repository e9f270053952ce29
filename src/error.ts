/**
 * An error that tells the analyst what to do: the action and the current value, then the remedy.
 * `code` keeps ClickHouse's error name (such as `UNKNOWN_TABLE`) where the server sent one.
 */
export class ProbelabError extends Error {
  readonly code: string | undefined;

  constructor(message: string, options: ErrorOptions & { code?: string } = {}) {
    super(message, options);
    this.name = "ProbelabError";
    this.code = options.code;
  }
}
