import { existsSync, readFileSync } from "node:fs";
import type * as Zod from "zod";
import { ProbelabError } from "../base/error.js";
import { lazySchemas } from "../base/lazy-schemas.js";
import type { Limits } from "./limits.js";
import { SEED_TABLES, type TableNames, type TableRole, type Tables } from "./tables.js";
import { nearName } from "../base/near-name.js";
import type { Tls } from "./source.js";
import { UNITS, type Unit } from "./time-column.js";

/** Columns of the measurement table that the seed document or the library names. */
const MEASUREMENT_COLUMNS = [
  ...["report_id", "software_name", "software_version", "test_name", "probe_cc", "probe_asn"],
  ...["measurement_uid", "input", "domain", "platform", "architecture", "engine_name"],
  ...["engine_version", "test_version", "test_start_time", "test_runtime", "anomaly", "confirmed"],
  ...["msm_failure", "test_helper_address", "test_helper_type"],
] as const;

/** Fields of a log line, and the columns that the seed document (or systemd) calls them. */
const LOG_COLUMNS = {
  message: "message",
  identifier: "SYSLOG_IDENTIFIER",
  priority: "PRIORITY",
  host: "host",
} as const;

const HELPER_COLUMNS = ["rdn", "dns_zone", "name", "region", "created_at", "destroyed_at"] as const;

/** A deployment's names for a table and its time column, and the form of its times. */
export interface TableOptions {
  /** The table, or `database.table`; by default fastpath, logs or test_helper_instances. */
  readonly table?: string;
  /** The column that bounds questions in time; by default measurement_start_time or __REALTIME_TIMESTAMP. */
  readonly time?: string;
  /** Unit of its numbers or digits, or `text`; only if the rows don't agree on it. */
  readonly unit?: Unit | "text";
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
  /** The team's encrypted file, the makefile that lists its recipients, and what of it is whose password. */
  readonly credentials?: {
    readonly file?: string;
    readonly makefile?: string;
    readonly measurements?: string;
    readonly logs?: string;
  };
  /** Channels of alerts: each an address, or the credential that holds it. */
  readonly alerts?: {
    readonly channels?: readonly AlertChannel[];
    readonly statsd?: string;
    readonly windowHours?: number;
    /** Addresses for the links of a schedule's alerts: below which its pages and its notebooks are, and what to do. */
    readonly pages?: string;
    readonly notebooks?: string;
    readonly runbook?: string;
  };
}

/** A channel of the configuration: `token` is a credential, too. */
export interface AlertChannel {
  readonly kind: "chat" | "push" | "alertmanager";
  readonly name?: string;
  readonly url?: string;
  readonly credential?: string;
  readonly token?: string;
}

const schemas = lazySchemas(({ z }) => {
  const text = (error: string) => z.string({ error }).min(1, error);
  const object = { error: "write an object, such as { … }" };
  const source = z.string({ error: "write embedded:DIR or http(s)://host:port/database" });
  const column = text("write the name of a column");
  const positive = { error: "write a number above 0" };
  const limit = z.number(positive).positive(positive);
  const units = [...(Object.keys(UNITS) as Unit[]), "text"] as const;
  const table = {
    table: text('write the name of a table, such as "fastpath" or "named.fastpath"'),
    unit: z.enum(units, { error: `write one of ${units.join(", ")}` }),
    cluster: text('write the name of a cluster, such as "service"'),
  };
  const columns = <Name extends string>(names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, column])) as Record<Name, typeof column>;
  const forms = z.record(
    z.string(),
    z.union([z.string(), z.array(z.string())], { error: "write a text or a list of texts" }),
    object,
  );
  const logColumns = columns(Object.keys(LOG_COLUMNS) as (keyof typeof LOG_COLUMNS)[]);
  const shapes = {
    measurements: { ...table, time: column, ...columns(MEASUREMENT_COLUMNS) },
    logs: { ...table, time: column, ...logColumns, forms },
    testHelpers: { ...table, draining_at: column, ...columns(HELPER_COLUMNS) },
  };
  const tables = z
    .strictObject(
      {
        measurements: z.strictObject(shapes.measurements, object).partial(),
        logs: z.strictObject(shapes.logs, object).partial(),
        testHelpers: z.strictObject(shapes.testHelpers, object).partial(),
      },
      object,
    )
    .partial();
  const limits = z
    .strictObject(
      {
        ...{ maxSeconds: limit, maxResultRows: limit, maxMemory: limit, maxRowsRead: limit },
        partial: z.boolean({ error: "write true or false" }),
      },
      object,
    )
    .partial();
  const path = text("write a path");
  const tls = z.strictObject({ ca: path, cert: path, key: path }, object).partial();
  const key = text('write keys joined by dots, such as "databases.measurements.password"');
  const credentials = z
    .strictObject({ file: path, makefile: path, measurements: key, logs: key }, object)
    .partial();
  const kinds = z.enum(["chat", "push", "alertmanager"], {
    error: "write chat, push or alertmanager",
  });
  const address = z.url({ protocol: /^https?$/, error: "write a whole address, https://…" });
  const channel = z
    .strictObject(
      { kind: kinds, name: text("write a name"), url: source, credential: key, token: key },
      object,
    )
    .partial({ name: true, url: true, credential: true, token: true });
  const alerts = z
    .strictObject(
      {
        channels: z.array(channel, { error: "write a list of channels" }),
        statsd: text("write host:port"),
        windowHours: limit,
        ...{ pages: address, notebooks: address, runbook: address },
      },
      object,
    )
    .partial();
  const config = z
    .strictObject(
      { measurements: source, logs: source, limits, tls, tables, credentials, alerts },
      object,
    )
    .partial();
  return { tables, limits, tls, credentials, alerts, channel, config };
});

/** A part of the configuration, and where an analyst finds it. */
interface Part<T> {
  readonly value: T;
  readonly where: string;
}

/** Reads probelab.config.json; {} where there is none. @throws ProbelabError naming what it can't use. */
export function readConfig(path: string): Config {
  if (!existsSync(path)) return {};
  return checked(schemas().config, parsed(readFileSync(path, "utf8"), path), path, []) as Config;
}

/** The limits of a question: of the option, the environment and the config file, limit by limit. */
export function mergeLimits(
  option: Partial<Limits> | undefined,
  env: NodeJS.ProcessEnv,
  config: Config,
): Partial<Limits> {
  const parts = layers(option, "PROBELAB_LIMITS", env, config.limits, "limits");
  return parts
    .map(({ value, where }) => checked(schemas().limits, value, where, ["limits"]))
    .reduce((all, one) => ({ ...all, ...one }), {}) as Partial<Limits>;
}

/** The files of certificates: of the environment and the config file, name by name. */
export function mergeTls(env: NodeJS.ProcessEnv, config: Config): Tls {
  const parts = layers(undefined, "PROBELAB_TLS", env, config.tls, "tls");
  const tls = parts
    .map(({ value, where }) => checked(schemas().tls, value, where, ["tls"]))
    .reduce((all, one) => ({ ...all, ...one }), {}) as Tls;
  if ((tls.cert === undefined) === (tls.key === undefined)) return tls;
  const missing = tls.cert === undefined ? "cert" : "key";
  throw new ProbelabError(
    `Can't use "tls" without "${missing}": a client's certificate needs both, "cert" and "key", each the path of a PEM file.`,
  );
}

/** The names of tables and columns: of the option, the environment and the config file, name by name. */
export function mergeTables(
  option: TablesOptions | undefined,
  env: NodeJS.ProcessEnv,
  config: Config,
): Tables {
  const parts = layers(option, "PROBELAB_TABLES", env, config.tables, "tables").map(
    ({ value, where }) => checked(schemas().tables, value, where, ["tables"]),
  );
  const of = (role: TableRole): TableNames => {
    const { table, unit, cluster, forms, ...names } = Object.assign(
      {},
      ...parts.map((part) => part[role]),
    ) as Record<string, string> & { forms?: Readonly<Record<string, string | readonly string[]>> };
    const seed = SEED_TABLES[role];
    const { time = names[seed.time] ?? seed.time, ...columns } = names;
    const renamed = Object.entries(columns).map(([name, own]) => [
      role === "logs" ? LOG_COLUMNS[name as keyof typeof LOG_COLUMNS] : name,
      own,
    ]);
    return {
      table: table ?? seed.table,
      time,
      columns: {
        ...(Object.fromEntries(renamed) as Record<string, string>),
        ...(time !== seed.time && { [seed.time]: time }),
      },
      ...(unit !== undefined && { unit }),
      ...(cluster !== undefined && { cluster }),
      ...(forms !== undefined && { forms }),
    };
  };
  return { measurements: of("measurements"), logs: of("logs"), testHelpers: of("testHelpers") };
}

/** The least first, so that the last one wins. */
function layers(
  option: unknown,
  variable: string,
  env: NodeJS.ProcessEnv,
  config: unknown,
  key: string,
): Part<unknown>[] {
  const text = env[variable];
  return [
    { value: config, where: "probelab.config.json" },
    ...(text === undefined || text === ""
      ? []
      : [{ value: parsed(text, variable), where: variable }]),
    { value: option, where: `connect({ ${key} })` },
  ].filter(({ value }) => value !== undefined);
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const example = where.startsWith("PROBELAB_")
      ? where === "PROBELAB_LIMITS"
        ? '{ "maxSeconds": 30 }'
        : where === "PROBELAB_TLS"
          ? '{ "ca": "authority.pem" }'
          : '{ "measurements": { "table": "named.fastpath" } }'
      : '{ "measurements": "https://host:8443/database" }';
    throw new ProbelabError(
      `Can't read ${where}: ${(cause as Error).message}. Write JSON such as ${example}.`,
      { cause },
    );
  }
}

/** The value, checked; `path` is where it stands in the configuration. */
function checked<T>(schema: Zod.ZodType<T>, value: unknown, where: string, path: string[]): T {
  const read = schema.safeParse(value, { reportInput: false });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  if (issue === undefined) throw read.error;
  const at = [...path, ...issue.path.map(String)];
  if (issue.code === "unrecognized_keys") {
    throw new ProbelabError(unknownKey(issue.keys[0] ?? "", at, where));
  }
  const found = issue.path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
  throw new ProbelabError(
    `Can't use "${at.join(".")}": ${shown(found, at)} in ${where}: ${issue.message}.`,
  );
}

/** A value as an error may show it: what could hold a password is not shown. */
function shown(value: unknown, at: readonly string[]): string {
  if (value !== null && typeof value === "object") return Array.isArray(value) ? "[…]" : "{…}";
  if (typeof value === "string" && at.length < 2) return "a text";
  return JSON.stringify(value) ?? String(value);
}

function unknownKey(key: string, at: string[], where: string): string {
  const { config, limits, tls, credentials, alerts, channel, tables } = schemas();
  const [first, second] = at;
  const role = second as TableRole;
  const shape =
    first === undefined
      ? config.shape
      : first === "limits"
        ? limits.shape
        : first === "tls"
          ? tls.shape
          : first === "credentials"
            ? credentials.shape
            : first === "alerts"
              ? (second === undefined ? alerts : channel).shape
              : second === undefined
                ? tables.shape
                : tables.shape[role].unwrap().shape;
  const allowed = Object.keys(shape);
  const meant =
    first === "tables" && second !== undefined && key === SEED_TABLES[role].time
      ? "time"
      : nearName(key, allowed);
  const hint = meant === undefined ? "it" : `did you mean ${JSON.stringify(meant)}? It`;
  const inside = at.length === 0 ? "" : ` in ${at.join(".")}`;
  const password = at.length === 0 ? "; passwords belong into PROBELAB_MEASUREMENTS_PASSWORD" : "";
  return `Can't use ${JSON.stringify(key)}${inside} in ${where}: ${hint} may hold ${allowed.map((name) => JSON.stringify(name)).join(", ")}${password}.`;
}
