import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { redact } from "../base/redact.js";

const LIMIT =
  "have the limit raised that the sentence before names, in the profile of the database's user";

const VIEW =
  "make a view that converts the column, and name it in tables of probelab.config.json or connect()";

const inProfile = (setting: string): string =>
  `set ${setting} back in the profile of the database's user, or give the user readonly = 2`;

const REMEDIES: Readonly<Record<string, string>> = {
  AUTHENTICATION_FAILED:
    "check the user and password in PROBELAB_MEASUREMENTS_USER and PROBELAB_MEASUREMENTS_PASSWORD (PROBELAB_LOGS_… for logs)",
  UNKNOWN_DATABASE: "check the database's name, in the SQL or at the end of the URL",
  UNKNOWN_TABLE:
    'check its name and that the URL names the database that holds it; another name of the service\'s own tables goes into connect({ tables: { measurements: { table: "…" } } })',
  UNKNOWN_IDENTIFIER: "check the name; await lab.columns() lists those of the service's tables",
  ILLEGAL_COLUMN: VIEW,
  NO_COMMON_TYPE: VIEW,
  TYPE_MISMATCH: VIEW,
  CANNOT_CONVERT_TYPE: VIEW,
  TIMEOUT_EXCEEDED:
    "take a shorter range, a coarser bucket or more filters, or raise connect({ limits: { maxSeconds } })",
  TOO_SLOW: "take a shorter range, a coarser bucket or more filters",
  MEMORY_LIMIT_EXCEEDED:
    "take a shorter range or more filters, or raise connect({ limits: { maxMemory } })",
  TOO_MANY_ROWS_OR_BYTES:
    "aggregate in the query, take a shorter range, or raise connect({ limits: { maxResultRows } }); a limit in bytes is max_result_bytes in the profile of the database's user",
  TOO_MANY_BYTES:
    "take a shorter range or fewer columns; the limit is max_bytes_to_read in the profile of the database's user",
  TOO_MANY_ROWS:
    "take a shorter range or more filters; the limit is the lower one of connect({ limits: { maxRowsRead } }) and of max_rows_to_read (of groups: max_rows_to_group_by) in the profile of the database's user",
  QUERY_CACHE_USED_WITH_NONDETERMINISTIC_FUNCTIONS: inProfile("use_query_cache"),
  QUERY_CACHE_USED_WITH_SYSTEM_TABLE: inProfile("use_query_cache"),
  SUPPORT_IS_DISABLED: inProfile("what the sentence before names"),
  QUOTA_EXCEEDED:
    "ask again when the quota's interval has ended, which the sentence before names, or have the quota raised",
  TOO_MANY_SIMULTANEOUS_QUERIES: "ask again in a moment, or have that limit raised",
  READONLY:
    'questions may only read; "npx probelab load" and "npx probelab sample" fill the embedded database. Where it is a view of file(), url() or s3(), have a table of that engine made',
  ACCESS_DENIED:
    "questions may only read, and only what the database's user is granted, which the sentence before names; ask who runs the database for that SELECT, or leave out what needs it",
  ALL_CONNECTION_TRIES_FAILED:
    "have the shard started, which the sentence before names: an answer without its rows would not be whole",
  CLUSTER_DOESNT_EXIST:
    'check "cluster" of the table in tables of probelab.config.json; system.clusters lists what there is',
  DISTRIBUTED_IN_JOIN_SUBQUERY_DENIED:
    "write GLOBAL IN or GLOBAL JOIN, so that the subquery is asked once of all shards",
  UNKNOWN_QUERY_PARAMETER: "give its value in params",
  SYNTAX_ERROR: "check the SQL at that position",
  NOT_ENOUGH_SPACE: "free some space on the disk that holds the database",
};

const FILL =
  'check its name, or where the embedded database is still empty, fill it with "npx probelab sample" or "npx probelab load"';

/** A fault of an answer that the transport noticed; its message follows the server's name. */
export class AnswerError extends Error {
  constructor(
    message: string,
    readonly remedy: string,
    readonly known: string | undefined,
  ) {
    super(message);
  }
}

/** An answer that ends before its end: what came is never taken for the whole. */
export function cutAnswer(found: string): AnswerError {
  return new AnswerError(
    `sent an answer that is not whole (${found})`,
    "Ask again; where it happens again, look for a proxy between here and the server that cuts answers",
    "CUT_ANSWER",
  );
}

const strange = (found: string): string => `gave an answer that ClickHouse does not give: ${found}`;
const OUR_URL =
  "Check that its URL is that of ClickHouse's HTTP interface (usually port 8123, or 8443 with https)";

/** Describes what came instead of an answer, such as the beginning of a page. */
export function strangeAnswer(bytes: Uint8Array): AnswerError {
  const text = Buffer.from(bytes.subarray(0, 2 ** 16)).toString("utf8");
  const isText = !/[\0-\x08\x0e-\x1f\ufffd]/.test(text);
  const found = isText ? firstSentence(text).slice(0, 200) : "bytes of another kind";
  return new AnswerError(strange(found), OUR_URL, undefined);
}

/**
 * The error as an analyst can use it: the action, what the server said with its code, the remedy.
 * Connection errors name the server without its credentials.
 */
export function serverError(cause: unknown, action: string, source: string): ProbelabError {
  if (cause instanceof ProbelabError) return cause;
  if (cause instanceof AnswerError) {
    return new ProbelabError(`Can't ${action}: ${source} ${cause.message}. ${cause.remedy}.`, {
      cause,
      ...(cause.known !== undefined && { code: cause.known }),
    });
  }
  const { message, code, ...rest } = cause as { type?: string; message?: string; code?: string };
  // The client takes the first word in parentheses for the type: of the SQL, or of each try to connect.
  const known = { 62: "SYNTAX_ERROR", 279: "ALL_CONNECTION_TRIES_FAILED" }[code ?? ""];
  const type = rest.type === undefined ? undefined : (known ?? rest.type);
  const whole = firstSentence(message ?? String(cause));
  // Of a missing table the server names the nearest of all databases, however far that is.
  const [hint = "", meant = ""] = / Maybe you meant (?:\S*\.)?(\w+)\?$/i.exec(whole) ?? [];
  const isFar = meant !== "" && !nearName(/'([^']+)'/.exec(whole)?.[1] ?? "", [meant]);
  const said = isFar ? whole.replace(hint, "") : whole;
  if (type !== undefined) {
    const near = /maybe you meant/i.test(said);
    const empty = type === "UNKNOWN_TABLE" && source.startsWith("embedded:");
    const known = REMEDIES[type] ?? (type.startsWith("TOO_") ? LIMIT : undefined);
    const remedy = near ? undefined : empty ? FILL : known;
    return new ProbelabError(
      `Can't ${action}: ${said} (${type}, code ${code}).${remedy === undefined ? "" : ` Remedy: ${remedy}.`}`,
      { cause, code: type },
    );
  }
  if (isBrokenOff(cause)) return serverError(cutAnswer("the connection broke"), action, source);
  if (isAbort(cause)) return new ProbelabError(`Stopped: ${action}.`, { cause, code: "ABORTED" });
  if (TLS_FAULT.test(code ?? "")) {
    return new ProbelabError(
      `Can't ${action}: ${source} can't be asked by TLS: ${said} (${code}). Check that https:// and the port are right, the server's certificate, and "ca", "cert" and "key" in PROBELAB_TLS.`,
      { cause, code: code as string },
    );
  }
  if (isNetworkError(cause)) {
    return new ProbelabError(
      `Can't ${action}: ${source} does not answer (${code ?? said}). Check that the server is up and reachable from here, and that its URL and port are right.`,
      { cause, ...(code !== undefined && { code }) },
    );
  }
  // A value that can't be sent, such as a Symbol.
  if (cause instanceof TypeError) return new ProbelabError(`Can't ${action}: ${said}.`, { cause });
  return new ProbelabError(`Can't ${action}: ${source} ${strange(said)}. ${OUR_URL}.`, { cause });
}

/** Codes of Node.js and OpenSSL. */
const TLS_FAULT = /^(EPROTO|ERR_(TLS|SSL|OSSL)\w*|\w*CERT\w*|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/;

function isNetworkError(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: string };
  const known = typeof code === "string" && /^E[A-Z_]+$/.test(code);
  return known || /socket hang up|timeout|network/i.test(message ?? "");
}

/** True for the error that an AbortSignal leaves; Node's "aborted" is a connection that broke. */
function isAbort(error: unknown): boolean {
  const { name, message } = error as { name?: string; message?: string };
  return name === "AbortError" || message === "The user aborted a request.";
}

/** True where the connection broke within the answer's body. */
function isBrokenOff(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  return (
    (code === "ECONNRESET" && message === "aborted") ||
    code === "ERR_STREAM_PREMATURE_CLOSE" ||
    (code === "Z_BUF_ERROR" && /unexpected end/i.test(message ?? ""))
  );
}

/** True where the connection was lost before an answer began, rather than the question refused. */
export function isConnectionLoss(error: unknown): boolean {
  const { type, code, message } = error as { type?: string; code?: string; message?: string };
  return (
    type === undefined &&
    !isBrokenOff(error) &&
    (/^(ECONNREFUSED|ECONNRESET|EPIPE)$/.test(code ?? "") || /socket hang up/i.test(message ?? ""))
  );
}

/** True for an error of a column, as of a table that is another than it was learned. */
export function isOfColumns(error: unknown): boolean {
  const { code = "" } = error as { code?: string };
  return /^(UNKNOWN_|NO_SUCH_|NOT_FOUND_|TYPE_|ILLEGAL_|CANNOT_|NO_COMMON_)/.test(code);
}

/** A text on one line without secrets and ClickHouse's version, not too long. */
export function firstSentence(message: string): string {
  // Before it is cut: a part of a secret can't be recognized.
  const text = redact(message.slice(0, 2 ** 16))
    .replace(/\s+/g, " ")
    .trim()
    .replace(/\s*\(version [^)]*\)\)?$/, "");
  return text.replace(/[.:]?\s*$/, "").slice(0, 600);
}
