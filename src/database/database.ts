import type { ColumnTable } from "arquero";
import { randomUUID } from "node:crypto";
import type { Stream } from "node:stream";
import { ProbelabError } from "../error.js";
import { untilDone } from "../files/pending-work.js";
import { currentSignal } from "../interrupt/current-signal.js";
import { watchQuery } from "../progress/watch-query.js";
import { arrowTable } from "./arrow.js";
import { openConnection, type Connection } from "./connection.js";
import { DEFAULT_GUARD, guardSettings, type Guard } from "./guard.js";
import { isConnectionLoss, serverError } from "./server-error.js";
import { serverProgress } from "./server-progress.js";
import type { Source } from "./source.js";
import { learnTable, type AskRows, type TableInfo } from "./table-info.js";
import { SEED_TABLES, type TableRole, type Tables } from "./tables.js";
import type { TimeColumn } from "./time-column.js";

/** One question: SQL with `{name:Type}` placeholders, and what it is for. */
export interface Question {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** For errors: "count measurements". */
  readonly action: string;
  /** Result column to ClickHouse type, where Arrow alone would lose it. */
  readonly types?: ReadonlyMap<string, string>;
  /** Stops the query at the server. Default: the signal of the running notebook cell. */
  readonly signal?: AbortSignal | undefined;
}

/** What came back. */
export interface Answer {
  readonly table: ColumnTable;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly seconds: number;
  readonly askedAt: Date;
}

/** A ClickHouse database that is only read, through the client over HTTP, embedded or remote. */
export class Database implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #settings: Record<string, string | number>;
  readonly #tables: Tables;
  readonly #learned = new Map<TableRole, Promise<TableInfo>>();
  /** `embedded:DIR`, or the server's URL and database without credentials. */
  readonly source: string;
  /** ClickHouse's version. */
  readonly version: string;
  /** True for the embedded server. */
  readonly embedded: boolean;

  private constructor(
    connection: Connection,
    settings: Record<string, string | number>,
    version: string,
    embedded: boolean,
    tables: Tables,
  ) {
    this.#connection = connection;
    this.#tables = tables;
    this.#settings = settings;
    this.source = connection.label;
    this.version = version;
    this.embedded = embedded;
  }

  /**
   * Opens a database: starts or joins the embedded server, or asks a remote one for its version.
   *
   * @throws ProbelabError when the server does not answer, refuses the user, or its user may not
   *   change settings (a profile with readonly = 1), without which no limit could be set.
   */
  static async open(
    source: Source,
    limits: Partial<Guard> = {},
    tables: Tables = SEED_TABLES,
  ): Promise<Database> {
    const guard = { ...DEFAULT_GUARD, ...limits };
    const connection = openConnection(source, guard.maxSeconds + 30);
    try {
      const sql =
        "SELECT version() AS version, toUInt8(getSetting('readonly')) AS readonly FORMAT JSONEachRow";
      const bytes = await send(connection, { sql, parameters: {}, settings: {} });
      const { version, readonly } = JSON.parse(Buffer.from(bytes.body).toString("utf8")) as {
        version: string;
        readonly: number;
      };
      if (readonly === 1) {
        throw new ProbelabError(
          `Can't use ${connection.label}: its user may change no setting (readonly = 1), so no limit can be put on a query. Give the user's profile readonly = 2.`,
        );
      }
      const settings = guardSettings(guard, readonly);
      return new Database(connection, settings, version, source.kind === "embedded", tables);
    } catch (error) {
      await connection[Symbol.asyncDispose]();
      throw serverError(error, "connect", connection.label);
    }
  }

  /** Asks and waits for the whole answer, as an Arquero table. */
  ask(question: Question): Promise<Answer> {
    return untilDone(() => this.#ask(question));
  }

  async #ask(question: Question): Promise<Answer> {
    const { sql, parameters, action, types } = question;
    const askedAt = new Date();
    const started = performance.now();
    try {
      const { body, rowsRead, bytesRead } = await this.#send(
        `${sql}\nFORMAT ArrowStream`,
        parameters,
        question.signal,
      );
      const table = await arrowTable(body, types);
      return { table, rowsRead, bytesRead, askedAt, seconds: (performance.now() - started) / 1000 };
    } catch (error) {
      throw serverError(error, action, this.source);
    }
  }

  /** Asks a small question about the database itself; rows as objects. */
  readonly rows: AskRows = async <Row extends object>(
    sql: string,
    parameters: Record<string, unknown> = {},
    action = "read the tables' columns",
  ) => {
    try {
      const { body } = await this.#send(`${sql}\nFORMAT JSONEachRow`, parameters);
      const lines = Buffer.from(body).toString("utf8").split("\n").filter(Boolean);
      return lines.map((line) => JSON.parse(line) as Row);
    } catch (error) {
      throw serverError(error, action, this.source);
    }
  };

  /** What the server says of one of the service's tables; asked once, of an empty one anew. */
  table(role: TableRole): Promise<TableInfo> {
    const known = this.#learned.get(role);
    if (known !== undefined) return known;
    const learned = learnTable(this.rows, this.#connection.database, this.#tables[role], role);
    this.#learned.set(role, learned);
    const forget = () => this.#learned.delete(role);
    learned.then(({ settled }) => settled || forget(), forget);
    return learned;
  }

  /** How a column of any table, named in free SQL, writes an instant. */
  async timeColumn(table: string, name: string): Promise<TimeColumn> {
    const roles = Object.keys(this.#tables) as TableRole[];
    const role = roles.find((one) => this.#tables[one].table === table);
    if (role !== undefined && this.#tables[role].time === name)
      return (await this.table(role)).time;
    const names = { table, time: name, columns: {} };
    return (await learnTable(this.rows, this.#connection.database, names)).time;
  }

  /** Gives the connection back; the embedded server ends with its last user. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
  }

  async #send(sql: string, parameters: Readonly<Record<string, unknown>>, signal?: AbortSignal) {
    const request = {
      sql,
      parameters,
      settings: this.#settings,
      signal: signal ?? currentSignal(),
    };
    try {
      return await send(this.#connection, request);
    } catch (error) {
      // A question only reads, so it may be asked again of the embedded server's successor.
      if (!this.embedded || !isConnectionLoss(error) || request.signal?.aborted) throw error;
      this.#connection.forget();
      return await send(this.#connection, request);
    }
  }
}

/**
 * The server keeps the answer, the first 64 MiB of it in memory, until it is whole: an error can't
 * come in the middle of it, and the summary counts all that was read.
 */
const WHOLE = { wait_end_of_query: 1, buffer_size: String(64 * 2 ** 20) } as const;

interface Request {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly settings: Record<string, string | number>;
  readonly signal?: AbortSignal | undefined;
}

function send(connection: Connection, request: Request) {
  return untilDone(() => sent(connection, request));
}

async function sent(connection: Connection, request: Request) {
  request.signal?.throwIfAborted();
  const client = await connection.client();
  const id = randomUUID();
  const run = async () => {
    const result = await client.exec({
      query: request.sql,
      query_params: request.parameters,
      query_id: id,
      clickhouse_settings: { ...request.settings, ...WHOLE },
      use_multipart_params_auto: true,
      ...(request.signal && { abort_signal: request.signal }),
    });
    const body = await collect(result.stream as Stream & AsyncIterable<Buffer>);
    return {
      body,
      rowsRead: Number(result.summary?.read_rows ?? 0),
      bytesRead: Number(result.summary?.read_bytes ?? 0),
    };
  };
  return watchQuery(id, run, () => serverProgress(client, id));
}

async function collect(stream: AsyncIterable<Buffer>): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  // A buffer of its own, aligned for typed arrays.
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
