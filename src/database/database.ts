import { parseError } from "@clickhouse/client";
import type { ColumnTable } from "arquero";
import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { untilDone } from "../base/pending-work.js";
import { arrowTable } from "./arrow.js";
import { type Connection, openConnection } from "./connection.js";
import {
  DEFAULT_GUARD,
  type Guard,
  type Guarded,
  GUARDED,
  guardSettings,
  type Setting,
} from "./guard.js";
import { send } from "./request.js";
import { AnswerError, cutAnswer, serverError, SHARD_DOWN, strangeAnswer } from "./server-error.js";
import type { Source } from "./source.js";
import { checkReads } from "./statement.js";
import { learnTable, quotedTable, type TableInfo, tableName } from "./table-info.js";
import { SEED_TABLES, type TableRole, type Tables } from "./tables.js";
import { plainType, timeColumn } from "./time-column.js";
import { currentSignal } from "../interrupt/current-signal.js";
import type { Origin } from "../result/origin.js";
import type { TimeRange } from "../time/time-range.js";

/** One query: SQL with `{name:Type}` placeholders, and what it is for. */
interface Query {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** For errors: "count measurements". */
  readonly action: string;
  /** Result column to ClickHouse type, where Arrow alone would lose it. */
  readonly types?: ReadonlyMap<string, string>;
  /** Stops the query at the server. Default: the signal of the running notebook cell. */
  readonly signal?: AbortSignal | undefined;
  /** True takes no partial answer, whatever the guard allows. */
  readonly whole?: true;
}

/** What came back. */
export interface Answer {
  readonly table: ColumnTable;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly seconds: number;
  readonly askedAt: Date;
  /** How often it was asked again, since the connection failed. */
  readonly retries: number;
  /** Where shards of a cluster did not answer and are left out: which. */
  readonly partial?: string;
}

/** A ClickHouse database that is only read, through the client over HTTP, embedded or remote. */
export class Database implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #guarded: Guarded;
  /** Whether answers name their questions on the way from this server. */
  readonly #named: boolean;
  readonly #learned = new Map<TableRole, Promise<TableInfo>>();
  /** How many answers were partial: what was learned from one is learned again. */
  #partials = 0;
  /** `embedded:DIR`, or the server's URL and database without credentials. */
  readonly source: string;
  /** ClickHouse's version. */
  readonly version: string;
  /** True for the embedded server. */
  readonly embedded: boolean;
  /** What the deployment calls its tables and columns. */
  readonly tables: Tables;
  /** What the database's user may not have of probelab's limits, a sentence each. */
  readonly notes: readonly string[];

  private constructor(
    connection: Connection,
    guarded: Guarded,
    { version, named }: { version: string; named: boolean },
    embedded: boolean,
    tables: Tables,
  ) {
    this.#connection = connection;
    this.#named = named;
    this.tables = tables;
    this.#guarded = guarded;
    this.notes = guarded.notes;
    this.source = connection.label;
    this.version = version;
    this.embedded = embedded;
  }

  /**
   * Opens a database: starts or joins the embedded server, or asks a remote one for its version.
   *
   * Its user may be one who may change no setting, or only within bounds: `notes` says which of the
   * limits that touches.
   *
   * @throws ProbelabError when the server does not answer within 15 s, refuses the user, or when the
   *   user's profile cuts answers and may not be changed.
   */
  static async open(
    source: Source,
    limits: Partial<Guard> = {},
    tables: Tables = SEED_TABLES,
  ): Promise<Database> {
    const guard = { ...DEFAULT_GUARD, ...limits };
    const connection = openConnection(source, answerSeconds(guard));
    try {
      const server = await learnServer(connection, Math.min(FIRST_SECONDS, answerSeconds(guard)));
      const guarded = guardSettings(guard, server.settings, connection.label);
      return new Database(connection, guarded, server, source.kind === "embedded", tables);
    } catch (error) {
      await connection[Symbol.asyncDispose]();
      throw serverError(error, "connect", connection.label);
    }
  }

  /** The database that SQL means where it names none. */
  get here(): string {
    return this.#connection.database;
  }

  /** Asks and waits for the whole answer, as an Arquero table. */
  ask(query: Query): Promise<Answer> {
    return untilDone(() => this.#ask(query));
  }

  async #ask(query: Query): Promise<Answer> {
    const { sql, parameters, action, types } = query;
    const askedAt = new Date();
    const started = performance.now();
    try {
      await this.#estimate(query);
      const read = (body: Uint8Array) => arrowTable(body, types);
      const {
        answer: table,
        counted,
        ...cost
      } = await this.#send(`${sql}\nFORMAT ArrowStream`, parameters, query.signal, read, {
        more: this.#guarded.asking,
        whole: query.whole,
      });
      checkRows(table.numRows(), counted);
      const other = [...(types?.keys() ?? [])].filter(
        (name) => !table.columnNames().includes(name),
      );
      if (other.length > 0) {
        throw new AnswerError(
          `sent an answer without the column${other.length > 1 ? "s" : ""} ${other.join(", ")}`,
          "A table was changed meanwhile, or a proxy mixes answers up: ask again",
          "OTHER_ANSWER",
        );
      }
      const { maxResultRows } = this.#guarded.guard;
      if (table.numRows() > maxResultRows) {
        throw new AnswerError(
          `answers with ${table.numRows().toLocaleString("en-US")} rows, more than the limit of ${maxResultRows.toLocaleString("en-US")}`,
          "Aggregate in the query, take a shorter range, or raise connect({ guard: { maxResultRows } })",
          "TOO_MANY_ROWS_OR_BYTES",
        );
      }
      return { table, ...cost, askedAt, seconds: (performance.now() - started) / 1000 };
    } catch (error) {
      throw serverError(error, action, this.source);
    }
  }

  /** Refuses what would read too much, where the user may not have the server do so. */
  async #estimate({ sql, parameters, signal }: Query): Promise<void> {
    const { estimates, guard } = this.#guarded;
    if (!estimates) return;
    const plan = `EXPLAIN ${sql}\nFORMAT JSONCompact`;
    const steps = await this.#send(plan, parameters, signal, jsonRows<{ explain: string }>);
    if (steps.answer.some(({ explain }) => explain.includes("ReadFromRemote"))) {
      throw new AnswerError(
        "reads other servers of a cluster, and estimates its own rows alone",
        "Have max_rows_to_read set in the profile of the database's user, or leave out connect({ guard: { maxRowsRead } })",
        "TOO_MANY_ROWS",
      );
    }
    const estimate = `EXPLAIN ESTIMATE ${sql}\nFORMAT JSONCompact`;
    const { answer } = await this.#send(estimate, parameters, signal, jsonRows<{ rows: number }>);
    const rows = answer.reduce((all, table) => all + Number(table.rows), 0);
    if (rows <= guard.maxRowsRead) return;
    throw new AnswerError(
      `would read ${rows.toLocaleString("en-US")} rows, more than the limit of ${guard.maxRowsRead.toLocaleString("en-US")}`,
      "Take a shorter range, or raise connect({ guard: { maxRowsRead } }) where so many rows may be read",
      "TOO_MANY_ROWS",
    );
  }

  /** Asks a small question about the database itself; rows as objects. */
  readonly rows = async <Row extends object>(
    sql: string,
    parameters: Record<string, unknown> = {},
    action = "read the tables' columns",
    signal?: AbortSignal,
  ): Promise<Row[]> => {
    try {
      const json = `${sql}\nFORMAT JSONCompact`;
      const { answer, counted } = await this.#send(json, parameters, signal, jsonRows<Row>);
      checkRows(answer.length, counted);
      return answer;
    } catch (error) {
      throw serverError(error, action, this.source);
    }
  };

  /**
   * The whole answer in ClickHouse's own form (Native), to be put into another database as it is.
   *
   * @returns `rows` as the server counted them; undefined where it doesn't say.
   */
  native(query: Omit<Query, "types">): Promise<{ body: Uint8Array; rows: number | undefined }> {
    return untilDone(async () => {
      try {
        const { sql, parameters, signal } = query;
        const native = `${sql}\nFORMAT Native`;
        const read = (body: Uint8Array) => body;
        const { answer, counted } = await this.#send(native, parameters, signal, read, {
          whole: true,
        });
        return { body: answer, rows: counted };
      } catch (error) {
        throw serverError(error, query.action, this.source);
      }
    });
  }

  /**
   * Writes the answer as the server makes it, in Parquet, without holding it here or there. How many
   * rows it has is limited by the user's profile alone.
   *
   * @returns its number of rows, as the file's own end tells it: there is none where it was cut.
   */
  parquet(query: Omit<Query, "types">, path: string): Promise<number> {
    const { sql, parameters, action, signal } = query;
    return untilDone(async () => {
      let unwritten: Error | undefined;
      try {
        await this.#estimate(query);
        const { max_result_rows: _, ...settings } = this.#guarded.settings;
        const { guard, asking } = this.#guarded;
        if (!this.embedded) checkReads(sql);
        const { named } = await send(this.#connection, {
          ...{ sql: `${sql}\nFORMAT Parquet`, parameters, settings: { ...settings, ...asking } },
          ...{ signal: signal ?? currentSignal(), seconds: answerSeconds(guard), maxBytes: 0 },
          into: (body, stop) => {
            const file = createWriteStream(path, { flush: true });
            file.on("error", (error) => (unwritten = error));
            return pipeline(body, file, { signal: stop });
          },
        });
        this.#checkNamed(named);
        return await parquetRows(path);
      } catch (error) {
        throw unwritten ?? serverError(error, action, this.source);
      }
    });
  }

  /** What the server says of one of the service's tables; asked once, of an empty one anew. */
  table(role: TableRole): Promise<TableInfo> {
    const known = this.#learned.get(role);
    if (known !== undefined) return known;
    const learned = learnTable(this.rows, this.here, this.tables[role], role);
    this.#learned.set(role, learned);
    const forget = () => this.#learned.delete(role);
    const before = this.#partials;
    learned.then(({ settled }) => (settled && this.#partials === before) || forget(), forget);
    return learned;
  }

  /**
   * How a column of any table, named in free SQL, writes an instant; and what the reader of an answer
   * must know of one of the service's own tables.
   */
  async timeColumn(
    place: readonly [database: string, table: string],
    name: string,
    type: string,
  ): Promise<Pick<TableInfo, "time" | "notes">> {
    const roles = Object.keys(this.tables) as TableRole[];
    const { here } = this;
    const role = roles.find(
      (one) =>
        tableName(this.tables[one].table, here).join(".") === place.join(".") &&
        this.tables[one].time === name,
    );
    // A column of times says itself how it writes an instant, where the table can't be learned, too.
    const time = /^Date/.test(plainType(type)) ? timeColumn(name, type, null) : undefined;
    if (role !== undefined) {
      return time === undefined
        ? await this.table(role)
        : await this.table(role).catch(() => ({ time, notes: [] }));
    }
    if (time !== undefined) return { time, notes: [] };
    const names = { table: quotedTable(...place), time: name, columns: {} };
    const { time: learned } = await learnTable(this.rows, here, names);
    return { time: learned, notes: [] };
  }

  /** Gives the connection back; the embedded server ends with its last user. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
  }

  /** Asks, and reads the answer if it is this question's and whole. */
  async #send<T>(
    sql: string,
    parameters: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
    read: (body: Uint8Array) => T | Promise<T>,
    {
      more = {},
      whole = false,
    }: { more?: Readonly<Record<string, string>>; whole?: boolean | undefined } = {},
  ): Promise<Sent<T>> {
    try {
      return await this.#sendWhole(sql, parameters, signal, read, more);
    } catch (error) {
      const { partial } = this.#guarded;
      const { code, message = "" } = error as { code?: string; message?: string };
      if (code !== SHARD_DOWN || partial === undefined || whole) throw error;
      this.#partials += 1;
      const answer = await this.#sendWhole(sql, parameters, signal, read, { ...more, ...partial });
      return { ...answer, partial: await this.#leftOut(message) };
    }
  }

  /** Says which shards did not answer, by the error that named the first and by what the server remembers. */
  async #leftOut(error: string): Promise<string> {
    const named = [...error.matchAll(/\(([^\s(),]+:\d+)/g)].map(([, place = ""]) => place);
    const failing = await this.rows<{ place: string }>(
      `SELECT arrayStringConcat(groupUniqArray(concat(host_name, ':', toString(port))), ' or ') AS place
FROM system.clusters GROUP BY cluster, shard_num HAVING min(errors_count) > 0`,
    ).catch(() => []);
    const places = [...new Set([...named, ...failing.map(({ place }) => place)])].join(", ");
    return `Partial: the rows of shards that do not answer are missing (${places}).`;
  }

  async #sendWhole<T>(
    sql: string,
    parameters: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
    read: (body: Uint8Array) => T | Promise<T>,
    more: Readonly<Record<string, string>>,
  ): Promise<Sent<T>> {
    if (!this.embedded) checkReads(sql);
    const request = {
      sql,
      parameters,
      settings: { ...this.#guarded.settings, ...more },
      signal: signal ?? currentSignal(),
      seconds: answerSeconds(this.#guarded.guard),
      maxBytes: this.#guarded.guard.maxMemory,
    };
    const { body, resultRows, named, ...cost } = await send(this.#connection, request);
    const answer = await readWhole(body, read);
    this.#checkNamed(named);
    return { answer, counted: resultRows, ...cost };
  }

  #checkNamed(named: boolean): void {
    if (!this.#named || named) return;
    throw new AnswerError(
      "sent the answer of another question",
      "Look for a proxy between here and the server that mixes answers up",
      "OTHER_ANSWER",
    );
  }
}

/** The rows of a Parquet file by its last bytes, which are written when it is whole. */
async function parquetRows(path: string): Promise<number> {
  const { asyncBufferFromFile, parquetMetadataAsync } = await import("hyparquet");
  try {
    return Number((await parquetMetadataAsync(await asyncBufferFromFile(path))).num_rows);
  } catch {
    const file = await open(path);
    const { size } = await file.stat();
    const { buffer } = await file.read({ position: Math.max(0, size - 2 ** 14) });
    await file.close();
    const said = parseError(buffer.toString("utf8").replace(/\0+$/, ""));
    throw "type" in said ? said : cutAnswer(`${size.toLocaleString("en-US")} bytes of Parquet`);
  }
}

/** An answer that was read, and what it cost. */
interface Sent<T> {
  readonly answer: T;
  readonly counted: number | undefined;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly retries: number;
  readonly partial?: string;
}

/** Where an answer is broken, an error that the server wrote at its end is the reason. */
async function readWhole<T>(body: Uint8Array, read: (body: Uint8Array) => T | Promise<T>) {
  try {
    return await read(body);
  } catch (error) {
    const said = parseError(Buffer.from(body.subarray(-(2 ** 14))).toString("utf8"));
    throw "type" in said ? said : error;
  }
}

/** How long a whole answer may take: the server's own limit comes first, and tells more. */
function answerSeconds({ maxSeconds }: Guard): number {
  return maxSeconds + Math.min(30, Math.max(2, maxSeconds / 4));
}

/** A server that doesn't answer to this is told soon; one that sleeps has time to wake. */
const FIRST_SECONDS = 15;

/** Asks for the version, and what is in force for the user, in one row that no profile's limit cuts. */
async function learnServer(connection: Connection, seconds: number) {
  const request = {
    sql: `SELECT version() AS version, groupArray((name, value, min, max, toBool(readonly))) AS settings
FROM system.settings WHERE has({names:Array(String)}, name)\nFORMAT JSONCompact`,
    parameters: { names: GUARDED },
    seconds,
    maxBytes: 2 ** 20,
  };
  // Modes that would cut this answer too; who may not send them is asked without.
  const whole = { limit: "0", offset: "0", read_overflow_mode: "throw" };
  const asked = (settings: Readonly<Record<string, string>>) =>
    send(connection, { ...request, settings });
  const refused = (error: unknown) => {
    const { type = "" } = error as { type?: string };
    if (!/^(READONLY|SETTING_CONSTRAINT_VIOLATION)$/.test(type)) throw error;
    return undefined;
  };
  const first = await asked(whole).catch(refused);
  let answer = first ?? (await asked({}).catch(refused));
  if (answer === undefined) {
    connection.plain();
    answer = await asked({});
  }
  const { body, named } = answer;
  type Row = [name: string, value: string, min: string | null, max: string | null, fixed: boolean];
  const [row] = await readWhole(body, jsonRows<{ version: string; settings: Row[] }>);
  if (row?.settings === undefined || row.settings.length === 0) {
    throw cutAnswer("it does not tell its settings");
  }
  const settings = row.settings.map(([name, value, min, max, fixed]): [string, Setting] => {
    // What was taken may be sent, whatever the column says.
    return [name, { value, min, max, fixed: fixed && !(first && name in whole) }];
  });
  return { version: row.version, settings: new Map(settings), named };
}

/** Rows of JSONCompact, whose end can be told from a cut. */
function jsonRows<Row extends object>(body: Uint8Array): Row[] {
  const text = Buffer.from(body).toString("utf8");
  type Json = { meta?: { name: string }[]; data?: unknown[][]; rows: number; exception?: string };
  let answer: Json | null;
  try {
    answer = JSON.parse(text) as Json | null;
  } catch {
    throw text === "" || text.startsWith("{")
      ? cutAnswer(`${text.length} characters of JSON`)
      : strangeAnswer(body);
  }
  const { meta, data, rows, exception } = answer ?? {};
  // A profile may have errors written into the answer.
  if (exception !== undefined) throw parseError(exception);
  if (meta === undefined || data === undefined) throw strangeAnswer(body);
  checkRows(data.length, rows);
  const names = meta.map(({ name }) => name);
  return data.map(
    (values) => Object.fromEntries(values.map((value, at) => [names[at], value])) as Row,
  );
}

/** Compares with what the server counted; servers that write before they have counted say 0. */
function checkRows(rows: number, counted: number | undefined): void {
  if (counted === undefined || counted === 0 || counted === rows) return;
  throw cutAnswer(`${rows.toLocaleString("en-US")} of ${counted.toLocaleString("en-US")} rows`);
}

/** The part of an origin that the asking itself tells: what was asked of whom, and what it cost. */
export function answerOrigin(
  database: Database,
  { sql, parameters }: Pick<Query, "sql" | "parameters">,
  range: TimeRange,
  { rowsRead, bytesRead, seconds, askedAt, retries, partial }: Omit<Answer, "table">,
): Omit<Origin, "columns" | "reductions" | "notes"> {
  return {
    sql,
    parameters,
    range,
    source: database.source,
    server: database.version,
    rowsRead,
    bytesRead,
    seconds,
    askedAt,
    ...(retries > 0 && { retries }),
    ...(partial !== undefined && { partial }),
  };
}
