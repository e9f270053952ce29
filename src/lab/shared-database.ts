import { Database } from "../database/database.js";
import type { Limits } from "../database/limits.js";
import type { Source } from "../database/source.js";
import type { Tables } from "../database/tables.js";

/** A database that is opened when it is first asked for, or the one that is open where both are the same. */
export interface SharedDatabase extends AsyncDisposable {
  readonly open: () => Promise<Database>;
}

/**
 * Shares an open database with a second source: the same one where the sources are equal, else one
 * of its own, opened on first use and closed with this.
 */
export function sharedDatabase(
  opened: Database,
  from: Source,
  source: Source,
  limits: Partial<Limits>,
  tables: Tables,
): SharedDatabase {
  if (isSame(from, source)) {
    return { open: () => Promise.resolve(opened), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  let own: Promise<Database> | undefined;
  return {
    open() {
      own ??= Database.open(source, limits, tables).catch((error: unknown) => {
        // The server may be there when it is asked for again.
        own = undefined;
        throw error;
      });
      return own;
    },
    async [Symbol.asyncDispose]() {
      await (await own?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

function isSame(a: Source, b: Source): boolean {
  if (a.kind === "embedded" || b.kind === "embedded") {
    return a.kind === "embedded" && b.kind === "embedded" && a.directory === b.directory;
  }
  const key = ({ url, database, username, password }: typeof a) =>
    JSON.stringify([url, database, username, password]);
  return key(a) === key(b);
}
