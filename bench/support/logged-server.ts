import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { restrictedServer, type RestrictedServer } from "../../test/support/restricted-server.js";
import { sampleDatabase } from "./sample-database.js";

/** What the server spent on one asking, all of its queries together. */
export interface Cost {
  /** Milliseconds of processor time, user and system: they count alike on a busy machine. */
  readonly cpu: number;
  /** Bytes at the peak of the query that took the most. */
  readonly memory: number;
  readonly rowsRead: number;
  readonly queries: number;
}

export const QUERY_LOG =
  "<query_log><database>system</database><table>query_log</table><flush_interval_milliseconds>60000</flush_interval_milliseconds></query_log>";

/** A server over a copy of the sample, which writes down what each query costs (system.query_log). */
export class LoggedServer implements AsyncDisposable {
  private constructor(
    readonly server: RestrictedServer,
    readonly folder: string,
  ) {}

  static async start(rows: number): Promise<LoggedServer> {
    const source = await sampleDatabase(rows);
    const folder = join(process.cwd(), ".bench", `logged-${rows}`);
    await rm(folder, { recursive: true, force: true });
    await cp(join(source.kind === "embedded" ? source.directory : "", "data"), folder, {
      recursive: true,
    });
    const settings = { use_query_condition_cache: 0 };
    const server = await restrictedServer({ reader: { settings } }, settings, {
      data: folder,
      config: QUERY_LOG,
    });
    return new LoggedServer(server, folder);
  }

  /** The URL of the server's database, for a reader. */
  get url(): string {
    return this.server.as("reader");
  }

  /** What `ask` makes the server do. Nothing else may be asked meanwhile. */
  async cost(ask: () => Promise<unknown>): Promise<Cost> {
    const { admin } = this.server;
    const clock = async (): Promise<string> => {
      const query = "SELECT toString(toUnixTimestamp64Micro(now64(6))) AS at";
      const answer = await admin.query({ query, format: "JSONEachRow" });
      return (await answer.json<{ at: string }>())[0]?.at ?? "0";
    };
    const from = await clock();
    await ask();
    // An answer is there before its query is written down.
    while ((await running(admin)) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const to = await clock();
    await admin.command({ query: "SYSTEM FLUSH LOGS" });
    const answer = await admin.query({
      query: `SELECT sum(ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds']) / 1000 AS cpu,
  toFloat64(max(memory_usage)) AS memory, toFloat64(sum(read_rows)) AS rowsRead, toUInt32(count()) AS queries
FROM system.query_log
WHERE type = 'QueryFinish' AND toUnixTimestamp64Micro(query_start_time_microseconds) BETWEEN ${from} AND ${to}
  AND user = 'reader'`,
      format: "JSONEachRow",
    });
    const [cost] = await answer.json<Cost>();
    if (cost === undefined || cost.queries === 0) throw new Error("The server logged no query.");
    return cost;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** How many of the reader's queries are not written down yet. */
async function running(admin: RestrictedServer["admin"]): Promise<number> {
  const query = "SELECT toUInt32(count()) AS n FROM system.processes WHERE user = 'reader'";
  const answer = await admin.query({ query, format: "JSONEachRow" });
  return (await answer.json<{ n: number }>())[0]?.n ?? 0;
}

/** The middle cost of each variant by processor time, of `rounds` rounds in turn; the first warms caches. */
export async function costs<Name extends string>(
  server: LoggedServer,
  variants: Readonly<Record<Name, () => Promise<unknown>>>,
  rounds: number,
): Promise<Record<Name, Cost>> {
  const seen = new Map<string, Cost[]>();
  for (let round = -1; round < rounds; round++) {
    for (const [name, ask] of Object.entries<() => Promise<unknown>>(variants)) {
      const cost = await server.cost(ask);
      if (round >= 0) seen.set(name, [...(seen.get(name) ?? []), cost]);
    }
  }
  const middle = (all: readonly Cost[]): Cost =>
    [...all].sort((a, b) => a.cpu - b.cpu)[Math.floor(all.length / 2)]!;
  return Object.fromEntries([...seen].map(([name, all]) => [name, middle(all)])) as Record<
    Name,
    Cost
  >;
}
