import { parseError } from "@clickhouse/client";
import type { ColumnTable } from "arquero";
import { ProbelabError } from "../base/error.js";
import { trackPending } from "../base/pending-work.js";
import { grouped } from "../base/text.js";
import { arrowTable } from "./arrow.js";
import { type Connection, openConnection } from "./connection.js";
import {
  DEFAULT_LIMITS,
  type Limits,
  type Limited,
  SETTING_NAMES,
  limitSettings,
  type Setting,
} from "./limits.js";
import { send } from "./request.js";
import { AnswerError, cutAnswer, serverError, strangeAnswer } from "./server-error.js";
import type { DatabaseAddress } from "./address.js";
import { sqlCode } from "./sql-text.js";
import { learnTable, quotedTable, type TableInfo, tableName } from "./table-info.js";
import { type AskRows, SEED_TABLES, type TableRole, type Tables } from "./tables.js";
import { plainType, timeColumn } from "./time-column.js";
import { currentSignal } from "../base/current-signal.js";
import type { Origin } from "../result/origin.js";
import type { TimeRange } from "../time/time-range.js";

/** One query: SQL with `{name:Type}` placeholders, and what it is for. */
interface Query {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** For errors: "count measurements". */
  readonly action: string;
  /** Stops the query at the server. @default the signal of the running notebook cell */
  readonly signal?: AbortSignal | undefined;
}

/** An answer and its cost. */
export interface Answer {
  readonly table: ColumnTable;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly seconds: number;
  readonly askedAt: Date;
  /** Number of repeats after failed connections. */
  readonly retries: number;
}

/** A ClickHouse database that is only read, through the client over HTTP, embedded or remote. */
export class Database implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #limited: Limited;
  readonly #learned = new Map<TableRole, { readonly info: Promise<TableInfo>; until: number }>();
  readonly #latest = new Map<TableRole, TableInfo>();
  /** How often a table was found to be another than before. */
  changes = 0;
  /** True if the server returns the query id. */
  readonly #named: boolean;
  /** `embedded:DIR`, or the server's URL and database without credentials. */
  readonly source: string;
  /** ClickHouse's version. */
  readonly version: string;
  /** Limits that the database's user can't have, a sentence each. */
  readonly notes: readonly string[];

  private constructor(
    connection: Connection,
    limited: Limited,
    { version, named }: { version: string; named: boolean },
    /** True for the embedded server. */
    readonly embedded: boolean,
    /** The deployment's names for tables and columns. */
    readonly tables: Tables,
  ) {
    this.#connection = connection;
    this.#limited = limited;
    this.#named = named;
    this.source = connection.label;
    this.version = version;
    this.notes = limited.notes;
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
    source: DatabaseAddress,
    wanted: Partial<Limits> = {},
    tables: Tables = SEED_TABLES,
  ): Promise<Database> {
    const limits = { ...DEFAULT_LIMITS, ...wanted };
    const connection = openConnection(source, answerSeconds(limits));
    try {
      const server = await learnServer(connection, Math.min(FIRST_SECONDS, answerSeconds(limits)));
      const limited = limitSettings(limits, server.settings, connection.label);
      return new Database(connection, limited, server, source.kind === "embedded", tables);
    } catch (error) {
      await connection[Symbol.asyncDispose]();
      throw tooOld(serverError(error, "connect", connection.label));
    }
  }

  /** The database that SQL means where it names none. */
  get here(): string {
    return this.#connection.database;
  }

  /** Asks and waits for the whole answer, as an Arquero table. */
  async ask(query: Query): Promise<Answer> {
    const askedAt = new Date();
    const started = performance.now();
    const { asking, limits } = this.#limited;
    const { answer, counted, ...cost } = await this.#send("ArrowStream", query, arrowTable, asking);
    try {
      checkRows(answer.numRows(), counted);
      checkLimit(answer.numRows(), limits);
    } catch (error) {
      throw serverError(error, query.action, this.source);
    }
    const seconds = (performance.now() - started) / 1000;
    return { table: answer, ...cost, askedAt, seconds };
  }

  /** Asks a small question about the database itself; rows as objects. */
  readonly rows = async <Row extends object>(
    sql: string,
    parameters: Record<string, unknown> = {},
    action = "read the tables' columns",
    signal?: AbortSignal,
  ): Promise<Row[]> => {
    const query = { sql, parameters, action, signal };
    return (await this.#send("JSONCompact", query, jsonRows<Row>)).answer;
  };

  /**
   * The whole answer in ClickHouse's own form (Native), to be put into another database as it is.
   *
   * @returns `rows` as the server counted them; undefined where it doesn't say.
   */
  async native(query: Query): Promise<{ body: Uint8Array; rows: number | undefined }> {
    const { answer, counted } = await this.#send("Native", query, (body) => body);
    return { body: answer, rows: counted };
  }

  /** Learns one of the service's tables, for a minute; an empty one again with the next question. */
  table(role: TableRole): Promise<TableInfo> {
    const known = this.#learned.get(role);
    if (known !== undefined && Date.now() < known.until) return known.info;
    const latest = this.#latest.get(role);
    const info = learnTable(this.rows, this.here, this.tables[role], role).catch(
      (error: ProbelabError) => {
        // That a server or a table is gone is said by the question itself, with its own action.
        if (latest === undefined || error.code === undefined) throw error;
        return latest;
      },
    );
    const learned = { info, until: Date.now() + LEARNED };
    this.#learned.set(role, learned);
    const settle = (info: TableInfo) => {
      if (latest !== undefined && shapeOf(info) !== shapeOf(latest)) this.changes += 1;
      this.#latest.set(role, info);
      if (!info.settled) learned.until = 0;
    };
    info.then(settle, () => (learned.until = 0));
    return info;
  }

  /**
   * Learns again what is known of the tables; true where one is another than when there were so many
   * `changes`. An error, or an answer without rows, may come of what the table was before.
   */
  async isChanged(since = this.changes): Promise<boolean> {
    this.#learned.clear();
    await Promise.all([...this.#latest.keys()].map((role) => this.table(role)));
    return this.changes !== since;
  }

  /**
   * How a column of any table, named in free SQL, writes an instant; and what the reader of an answer
   * must know of one of the service's own tables.
   */
  async timeColumn(
    place: readonly [database: string, table: string],
    name: string,
    type: string,
    signal?: AbortSignal,
  ): Promise<Pick<TableInfo, "time" | "notes">> {
    const { here, tables } = this;
    const role = (Object.keys(tables) as TableRole[]).find(
      (each) =>
        tableName(tables[each].table, here).join(".") === place.join(".") &&
        tables[each].time === name,
    );
    // A column of times says itself how it writes an instant, where the table can't be learned, too.
    const time = /^Date/.test(plainType(type)) ? timeColumn(name, type, null) : undefined;
    if (role !== undefined) {
      return this.table(role).catch((error: ProbelabError) => {
        if (error.code === "ABORTED" || time === undefined) throw error;
        return { time, notes: [] };
      });
    }
    if (time !== undefined) return { time, notes: [] };
    const names = { table: quotedTable(...place), time: name, columns: {} };
    const ask: AskRows = (sql, parameters, action) => this.rows(sql, parameters, action, signal);
    const { time: learned } = await learnTable(ask, here, names);
    return { time: learned, notes: [] };
  }

  /** Gives the connection back; the embedded server ends with its last user. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
  }

  /** Asks, and reads the answer if it is this question's and whole. */
  #send<T>(
    format: string,
    query: Query,
    read: Read<T>,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Sent<T>> {
    const sent = () => this.#sendWhole(format, query, read, settings);
    return trackPending(sent).catch((cause: unknown) => {
      const error = serverError(cause, query.action, this.source);
      if (error.code !== "ACCESS_DENIED") throw error;
      const granted = [...this.#latest.values()]
        .filter(
          ({ name }) => error.message.includes(`${name}.`) || error.message.includes(`${name})`),
        )
        .map(({ name, columns }) => ` Of ${name} it may read ${[...columns.keys()].join(", ")}.`);
      throw new ProbelabError(error.message + granted.join(""), { cause, code: error.code });
    });
  }

  async #sendWhole<T>(
    format: string,
    { sql, parameters, signal = currentSignal() }: Query,
    read: Read<T>,
    more: Readonly<Record<string, string>>,
  ): Promise<Sent<T>> {
    if (!this.embedded) checkReads(sql);
    const { body, resultRows, named, ...cost } = await send(this.#connection, {
      sql: `${sql}\nFORMAT ${format}`,
      parameters,
      settings: { ...this.#limited.settings, ...more },
      signal,
      seconds: answerSeconds(this.#limited.limits),
      maxBytes: this.#limited.limits.maxMemory,
    });
    const answer = await readWhole(body, resultRows, read);
    if (this.#named && !named) {
      throw new AnswerError(
        "sent the answer of another question",
        "Look for a proxy between here and the server that mixes answers up",
        "OTHER_ANSWER",
      );
    }
    return { answer, counted: resultRows, ...cost };
  }
}

function shapeOf({ time, columns }: TableInfo): string {
  return JSON.stringify([time.written, ...columns]);
}

const READS = /^[\s(]*(SELECT|WITH|FROM|SHOW|DESCRIBE|DESC|EXPLAIN|EXISTS)\b/i;
const WRITES =
  /\bINSERT\s+INTO\b|\bINTO\s+OUTFILE\b|^[\s(]*(EXPLAIN\s+)+(\w+\s+){0,2}(ALTER|CREATE|DROP|TRUNCATE|RENAME|EXCHANGE|OPTIMIZE|ATTACH|DETACH|DELETE|UPDATE|KILL|SYSTEM|SET|GRANT|REVOKE|BACKUP|RESTORE)\b/i;

/**
 * Refuses to send what does not read, whoever wrote it: the last gate before the server, which is
 * asked with readonly = 1 besides. Strings, quoted names and comments are no part of a statement.
 */
export function checkReads(sql: string): void {
  const code = sqlCode(sql);
  if (READS.test(code) && !WRITES.test(code)) return;
  throw new ProbelabError(
    "Can't run the query: it is no SELECT, SHOW, DESCRIBE or EXPLAIN of one, and questions only read. Leave out what writes.",
  );
}

/** Reads an answer's body, of which the server counted so many rows. */
type Read<T> = (body: Uint8Array, counted: number | undefined) => T | Promise<T>;

/** An answer that was read, and what it cost. */
interface Sent<T> {
  readonly answer: T;
  readonly counted: number | undefined;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly retries: number;
}

/** Prefers the error that the server wrote at the end of a broken answer. */
async function readWhole<T>(body: Uint8Array, counted: number | undefined, read: Read<T>) {
  try {
    return await read(body, counted);
  } catch (error) {
    const said = parseError(Buffer.from(body.subarray(-(2 ** 14))).toString("utf8"));
    throw "type" in said ? said : error;
  }
}

/** Seconds for a whole answer: beyond the server's own limit, whose error says more. */
function answerSeconds({ maxSeconds }: Limits): number {
  return maxSeconds + Math.min(30, Math.max(2, maxSeconds / 4));
}

/** Milliseconds for which a table is known. */
const LEARNED = 60_000;

/** Long enough for a sleeping server to wake. */
const FIRST_SECONDS = 15;

/** The oldest ClickHouse that knows all functions of our questions. */
const OLDEST = "22.8";

/** An error of a server that doesn't know the first question, with the likely reason. */
function tooOld(error: ProbelabError): ProbelabError {
  const unknown =
    /^(UNKNOWN_(FUNCTION|IDENTIFIER|SETTING|AGGREGATE_FUNCTION)|ILLEGAL_\w+|SYNTAX_ERROR)$/;
  if (!unknown.test(error.code ?? "")) return error;
  const message = `${error.message} Check that the server is ClickHouse ${OLDEST} or newer (SELECT version()); an older one can't be asked.`;
  return new ProbelabError(message, { cause: error, ...(error.code && { code: error.code }) });
}

/** More rows than a limit lets through that somebody sets for pages of results. */
const PROBE_ROWS = 100_000;

/** Asks for the version, and what is in force for the user, in one row that no profile's limit cuts. */
async function learnServer(connection: Connection, seconds: number) {
  const request = {
    sql: `SELECT version() AS version, groupArray((name, value, min, max, toBool(readonly), toBool(changed), COLUMNS('^default$'))) AS settings
FROM system.settings WHERE has({names:Array(String)}, name) OR changed\nFORMAT JSONCompact`,
    parameters: { names: SETTING_NAMES },
    seconds,
    maxBytes: 2 ** 20,
    small: true,
  };
  // Modes that would cut this answer too; who may not send them is asked without.
  const whole = {
    limit: "0",
    offset: "0",
    additional_result_filter: "",
    read_overflow_mode: "throw",
  };
  const asked = (settings: Readonly<Record<string, string>>) =>
    send(connection, { ...request, settings });
  const refused = (error: unknown) => {
    const { type = "" } = error as { type?: string };
    if (!/^(READONLY|SETTING_CONSTRAINT_VIOLATION)$/.test(type)) throw error;
    return undefined;
  };
  const first = await asked(whole).catch((error: { type?: string }) => {
    if (!/^QUERY_CACHE/.test(error.type ?? "")) return refused(error);
    // Older servers know no such setting.
    return asked({ ...whole, use_query_cache: "0" }).catch(refused);
  });
  let answer = first ?? (await asked({}).catch(refused));
  if (answer === undefined) {
    connection.plain();
    answer = await asked({});
  }
  const { body, named } = answer;
  type Bound = string | null;
  // Older servers don't show defaults.
  type Row = [string, string, min: Bound, max: Bound, fixed: boolean, changed: boolean, string?];
  const read = jsonRows<{ version: string; settings: Row[] }>;
  const [row] = await readWhole(body, undefined, read);
  if (row?.settings === undefined || row.settings.length === 0) {
    throw new AnswerError(
      "leaves out the row that says what is in force for its user",
      "Look for limit, offset or additional_result_filter in the profile of that user, and give the user readonly = 2",
      "CUT_ANSWER",
    );
  }
  const settings = row.settings.map(
    ([name, value, min, max, fixed, changed, usual]): [string, Setting] => {
      // A setting that was accepted may be sent, whatever the column says.
      const isFixed = fixed && !(first && name in whole);
      return [name, { value, min, max, changed, fixed: isFixed, default: usual }];
    },
  );
  // A profile's, which ours overrules, or that of a proxy, which overrules ours.
  if (first && settings.some(([name, { changed }]) => changed && /^(limit|offset)$/.test(name))) {
    const sql = `SELECT 1 FROM numbers(${PROBE_ROWS})\nFORMAT JSONCompact`;
    const probe = await send(connection, { ...request, sql, parameters: {}, settings: whole });
    if (jsonRows(probe.body, undefined).length !== PROBE_ROWS) {
      throw new AnswerError(
        "is asked for a part of each answer",
        "Look for a proxy between here and the server that adds limit or offset to the URL",
        "CUT_ANSWER",
      );
    }
  }
  return { version: row.version, settings: new Map(settings), named };
}

/** Reads rows of JSONCompact, which fails to parse if it is cut. */
function jsonRows<Row extends object>(body: Uint8Array, counted: number | undefined): Row[] {
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
  checkRows(data.length, counted);
  const names = meta.map(({ name }) => name);
  return data.map(
    (values) => Object.fromEntries(values.map((value, at) => [names[at], value])) as Row,
  );
}

/** Compares with what the server counted; servers that write before they have counted say 0. */
function checkRows(rows: number, counted: number | undefined): void {
  if (counted === undefined || counted === 0 || counted === rows) return;
  throw cutAnswer(`${grouped(rows)} of ${grouped(counted)} rows`);
}

/** @throws AnswerError for more rows than are allowed, where the server's user can't have the limit. */
function checkLimit(rows: number, { maxResultRows }: Limits): void {
  if (rows <= maxResultRows) return;
  throw new AnswerError(
    `answers with ${grouped(rows)} rows, more than the limit of ${grouped(maxResultRows)}`,
    "Aggregate in the query, take a shorter range, or raise connect({ limits: { maxResultRows } })",
    "TOO_MANY_ROWS_OR_BYTES",
  );
}

/** The part of an origin that comes from asking: the question, the server, the cost. */
export function answerOrigin(
  database: Database,
  { sql, parameters }: Pick<Query, "sql" | "parameters">,
  range: TimeRange | undefined,
  answer: Omit<Answer, "table">,
): Omit<Origin, "columns" | "reductions" | "notes"> {
  const { rowsRead, bytesRead, seconds, askedAt, retries } = answer;
  return {
    sql,
    parameters,
    ...(range && { range }),
    source: database.source,
    server: database.version,
    rowsRead,
    bytesRead,
    seconds,
    askedAt,
    ...(retries > 0 && { retries }),
  };
}
