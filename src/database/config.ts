import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isPlain } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import type { Limits } from "./limits.js";
import { SEED_TABLES, type TableRole } from "./tables.js";
import { nearName } from "../base/near-name.js";
import type { Tls } from "./address.js";
import { UNITS, type Unit } from "./time-column.js";

/** Columns of the measurement table that the seed document or the library names. */
const MEASUREMENT_COLUMNS = [
  ...["report_id", "software_name", "software_version", "test_name", "probe_cc", "probe_asn"],
  ...["measurement_uid", "input", "domain", "platform", "architecture", "engine_name"],
  ...["engine_version", "test_version", "test_start_time", "test_runtime", "anomaly", "confirmed"],
  ...["msm_failure", "test_helper_address", "test_helper_type"],
] as const;

/** The fields of a log line, in the order of results, and the columns that the seed document (or systemd) calls them. */
export const LOG_COLUMNS = {
  identifier: "SYSLOG_IDENTIFIER",
  priority: "PRIORITY",
  host: "host",
  message: "message",
} as const;

const HELPER_COLUMNS = ["rdn", "dns_zone", "name", "region", "created_at", "destroyed_at"] as const;

/** A deployment's names for a table and its time column, and the form of its times. */
export interface TableOptions {
  /** The table, or `database.table`. @default fastpath, logs or test_helper_instances */
  readonly table?: string;
  /** The column that bounds questions in time. @default measurement_start_time or __REALTIME_TIMESTAMP */
  readonly time?: string;
  /** Unit of its numbers or digits; only if the rows don't agree on it. */
  readonly unit?: Unit;
  /** The cluster whose servers each hold a part of the table; a Distributed table needs none. */
  readonly cluster?: string;
}

/** A deployment's names for tables and columns; the seed document's are the default. */
export interface TablesOptions {
  /** Columns by the library's names, such as `software_version: "version"`. */
  readonly measurements?: TableOptions & {
    readonly [Column in (typeof MEASUREMENT_COLUMNS)[number]]?: string;
  };
  /** Columns by a line's fields, such as `identifier: "program"`; `forms` says what lines look like. */
  readonly logs?: TableOptions & {
    readonly [Field in keyof typeof LOG_COLUMNS]?: string;
  } & { readonly forms?: Readonly<Record<string, string | readonly string[]>> };
  /** Columns by the seed document's names; `draining_at` is the time. */
  readonly testHelpers?: Omit<TableOptions, "time"> & {
    readonly [Column in (typeof HELPER_COLUMNS)[number] | "draining_at"]?: string;
  };
}

/** The content of probelab.config.json. */
export interface Config {
  readonly measurements?: string;
  readonly logs?: string;
  readonly limits?: Partial<Limits>;
  readonly tls?: Tls;
  readonly tables?: TablesOptions;
  /** The team's encrypted file, and what of it is whose password. */
  readonly credentials?: {
    readonly file?: string;
    readonly measurements?: string;
    readonly logs?: string;
  };
  /** Channels of alerts: each an address, or the credential that holds it. */
  readonly alerts?: {
    readonly channels?: readonly AlertChannel[];
    readonly windowHours?: number;
    /** What hears of each round of the schedule. */
    readonly heartbeat?: readonly AlertChannel[];
    /** Addresses for the links of a schedule's alerts: below which its pages and its notebooks are, and what to do. */
    readonly pages?: string;
    readonly notebooks?: string;
    readonly runbook?: string;
  };
}

/** A channel of the configuration: `token` is a credential, too. */
export interface AlertChannel {
  readonly kind: "chat" | "push" | "alertmanager" | "url";
  readonly name?: string;
  readonly url?: string;
  readonly credential?: string;
  readonly token?: string;
}

/** The shape of a value: a rule, a list of such values, or an object of them by name. */
type Shape = Rule | readonly [Shape] | { readonly [key: string]: Shape };
/** Says how to write a value that doesn't fit. */
type Rule = (value: unknown) => string | undefined;

const rule =
  (fits: (value: unknown) => boolean, write: string): Rule =>
  (value) =>
    fits(value) ? undefined : write;
const text = (write: string) => rule((value) => typeof value === "string" && value !== "", write);
const among = (names: readonly string[], write = `write one of ${names.join(", ")}`) =>
  rule((value) => names.includes(value as string), write);
const SOURCE = rule(
  (value) => typeof value === "string",
  "write embedded:DIR or http(s)://host:port/database",
);
const COLUMN = text("write the name of a column");
const PATH = text("write a path");
const KEY = text('write keys joined by dots, such as "databases.measurements.password"');
const POSITIVE = rule((value) => typeof value === "number" && value > 0, "write a number above 0");
const ADDRESS = rule(
  (value) => typeof value === "string" && URL.canParse(value) && /^https?:/i.test(value),
  "write a whole address, https://…",
);
const FORMS = rule(
  (value) =>
    isPlain(value) &&
    Object.values(value).every((form) => [form].flat().every((each) => typeof each === "string")),
  "write an object of texts, or of lists of texts",
);
const LIMITS: Record<keyof Limits, Rule> = {
  maxSeconds: POSITIVE,
  maxResultRows: POSITIVE,
  maxMemory: POSITIVE,
  maxRowsRead: POSITIVE,
};
const TLS: Record<keyof Tls, Rule> = { ca: PATH, cert: PATH, key: PATH };
const TABLE: Record<keyof Omit<TableOptions, "time">, Rule> = {
  table: text('write the name of a table, such as "fastpath" or "named.fastpath"'),
  unit: among(Object.keys(UNITS)),
  cluster: text('write the name of a cluster, such as "service"'),
};
const columns = (names: readonly string[]): Record<string, Rule> =>
  Object.fromEntries(names.map((name) => [name, COLUMN]));
const TABLES: Record<TableRole, Shape> = {
  measurements: { ...TABLE, time: COLUMN, ...columns(MEASUREMENT_COLUMNS) },
  logs: { ...TABLE, time: COLUMN, ...columns(Object.keys(LOG_COLUMNS)), forms: FORMS },
  testHelpers: { ...TABLE, draining_at: COLUMN, ...columns(HELPER_COLUMNS) },
};
const CHANNEL: Record<keyof AlertChannel, Rule> = {
  kind: among(["chat", "push", "alertmanager"], "write chat, push or alertmanager"),
  name: text("write a name"),
  url: ADDRESS,
  credential: KEY,
  token: KEY,
};
const HEARTBEAT = { ...CHANNEL, kind: among(["url", "alertmanager"], "write url or alertmanager") };
/** Members that must be there. */
const REQUIRED: readonly Shape[] = [CHANNEL.kind, HEARTBEAT.kind];
const CONFIG: Record<keyof Config, Shape> = {
  measurements: SOURCE,
  logs: SOURCE,
  limits: LIMITS,
  tls: TLS,
  tables: TABLES,
  credentials: { file: PATH, measurements: KEY, logs: KEY },
  alerts: {
    channels: [CHANNEL],
    windowHours: POSITIVE,
    heartbeat: [HEARTBEAT],
    pages: ADDRESS,
    notebooks: ADDRESS,
    runbook: ADDRESS,
  },
};

/** The path of the project's settings. */
export function configPath(root: string): string {
  return join(root, "probelab.config.json");
}

/** Reads probelab.config.json; {} where there is none. @throws ProbelabError naming what it can't use. */
export function readConfig(path: string): Config {
  if (!existsSync(path)) return {};
  const config = parsed(readFileSync(path, "utf8"), path);
  check(config, CONFIG, path);
  return config as Config;
}

/**
 * A part of the configuration as the file, the environment and the option give it, each checked and
 * in that order: of a name that several give, the last counts.
 */
export function configLayers(
  key: "limits" | "tls" | "tables",
  option: unknown,
  env: NodeJS.ProcessEnv,
  root: string,
): object[] {
  const variable = `PROBELAB_${key.toUpperCase()}`;
  const given = env[variable];
  const parts: readonly [value: unknown, where: string][] = [
    [readConfig(configPath(root))[key], "probelab.config.json"],
    [given ? parsed(given, variable) : undefined, variable],
    [option, `connect({ ${key} })`],
  ];
  return parts.flatMap(([value, where]) => {
    if (value === undefined) return [];
    check(value, CONFIG[key], where, [key]);
    return [value as object];
  });
}

const EXAMPLES: Readonly<Record<string, string>> = {
  PROBELAB_LIMITS: '{ "maxSeconds": 30 }',
  PROBELAB_TLS: '{ "ca": "authority.pem" }',
  PROBELAB_TABLES: '{ "measurements": { "table": "named.fastpath" } }',
};

function parsed(json: string, where: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    const example = EXAMPLES[where] ?? '{ "measurements": "https://host:8443/database" }';
    throw new ProbelabError(
      `Can't read ${where}: ${(cause as Error).message}. Write JSON such as ${example}.`,
      { cause },
    );
  }
}

/** Refuses a value that its shape doesn't allow; `path` is where it stands in the configuration. */
function check(value: unknown, shape: Shape, where: string, path: readonly string[] = []): void {
  const refuse = (write: string | undefined) => {
    if (write === undefined) return;
    // What could hold a password is not shown.
    const shown = isPlain(value)
      ? "{…}"
      : Array.isArray(value)
        ? "[…]"
        : typeof value === "string" && path.length < 2
          ? "a text"
          : (JSON.stringify(value) ?? String(value));
    throw new ProbelabError(`Can't use "${path.join(".")}": ${shown} in ${where}: ${write}.`);
  };
  if (typeof shape === "function") return refuse(shape(value));
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return refuse("write a list");
    value.forEach((each, at) => check(each, (shape as [Shape])[0], where, [...path, String(at)]));
    return;
  }
  if (!isPlain(value)) return refuse("write an object, such as { … }");
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(shape, key));
  if (unknown !== undefined) throw unknownKey(unknown, Object.keys(shape), where, path);
  for (const [key, inner] of Object.entries<Shape>(shape as Record<string, Shape>)) {
    if (value[key] === undefined && !REQUIRED.includes(inner)) continue;
    check(value[key], inner, where, [...path, key]);
  }
}

function unknownKey(
  key: string,
  known: readonly string[],
  where: string,
  path: readonly string[],
): ProbelabError {
  const isTime = path[0] === "tables" && key === SEED_TABLES[path[1] as TableRole]?.time;
  const meant = isTime ? "time" : nearName(key, known);
  const hint = meant === undefined ? "it" : `did you mean ${JSON.stringify(meant)}? It`;
  const inside = path.length === 0 ? "" : ` in ${path.join(".")}`;
  const password =
    path.length === 0 ? "; passwords belong into PROBELAB_MEASUREMENTS_PASSWORD" : "";
  const names = known.map((name) => JSON.stringify(name)).join(", ");
  return new ProbelabError(
    `Can't use ${JSON.stringify(key)}${inside} in ${where}: ${hint} may hold ${names}${password}.`,
  );
}
