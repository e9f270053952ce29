import { createClient, type ClickHouseClient } from "@clickhouse/client";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Settings of a profile, and what bounds a user's changes of them. */
export interface Profile {
  /** The user's password; default PASSWORD. */
  readonly password?: string;
  readonly settings: Readonly<Record<string, string | number>>;
  /** All that the user may do, such as `GRANT SELECT ON probelab.fastpath`; default everything. */
  readonly grants?: readonly string[];
  /** Table of probelab to the rows that the user sees, such as `{ fastpath: "probe_cc = 'IT'" }`. */
  readonly rows?: Readonly<Record<string, string>>;
  /** Setting to its constraint, such as `{ max: 30 }` or `{ readonly: true }`. */
  readonly constraints?: Readonly<Record<string, { min?: number; max?: number; readonly?: true }>>;
}

/** A real server with users of its own, reached by a URL. */
export interface RestrictedServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/probelab`, without a user. */
  readonly url: string;
  /** The URL with a user's name and password: `connect({ measurements: server.as("ro1") })`. */
  as(user: string): string;
  /** The user `default`, who may do everything: fills tables, `CREATE USER`, `GRANT`. */
  readonly admin: ClickHouseClient;
  /** Freezes the server's process, wakes it or ends it. */
  signal(name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void;
}

interface ServerOptions {
  readonly data?: string;
  readonly config?: string;
  readonly tcp?: number;
}

/** The password of every user who is given no other; `default` has none. */
export const PASSWORD = "s3cret";

/**
 * The usual readers: `ro1` may change no setting, `ro2` may but not write, `bound` may up to 30 s,
 * 1 GB and 51,000 rows.
 */
export const READERS: Readonly<Record<string, Profile>> = {
  ro1: { settings: { readonly: 1 } },
  ro2: { settings: { readonly: 2 } },
  bound: {
    settings: {
      readonly: 2,
      max_execution_time: 30,
      max_memory_usage: 1_000_000_000,
      max_result_rows: 51_000,
    },
    constraints: {
      max_execution_time: { max: 30 },
      max_memory_usage: { max: 1_000_000_000 },
      max_result_rows: { max: 51_000 },
    },
  },
};

// Ends with the engine, and with its parent, whose end closes the standard input.
const RUN = `
const end = () => process.kill(process.pid, "SIGKILL");
process.stdin.resume().on("close", end);
const { open, load, DataType } = require("ffi-rs");
open({ library: "chdb", path: require("chdb/libchdb").libchdbPath() });
const argv = ["clickhouse", ...process.argv.slice(1)];
load({ library: "chdb", funcName: "chdb_query_cmdline", retType: DataType.I64, runInNewThread: true,
  paramsType: [DataType.I32, DataType.StringArray], paramsValue: [argv.length, argv] }).then(end, end);
`;

/**
 * Starts a server with a user for each profile, of the profile's name; `await using` ends it. Where
 * another program took its port in between, it is started again at another.
 *
 * @param users name to profile; default READERS.
 * @param settings of the user `default` and so of everybody; default none.
 * @param more its data's folder, which stays; what its configuration says besides, XML; and the port
 *   of its native interface, by which other servers reach it as \`default\`.
 */
export async function restrictedServer(
  users: Readonly<Record<string, Profile>> = READERS,
  settings: Profile["settings"] = {},
  more: ServerOptions = {},
): Promise<RestrictedServer> {
  return tryAgain(() => startServer(users, settings, more));
}

/** Starts something up to three times: between the search for a free port and its use it may be taken. */
export async function tryAgain<T>(start: () => Promise<T>): Promise<T> {
  return start().catch(start).catch(start);
}

async function startServer(
  users: Readonly<Record<string, Profile>>,
  settings: Profile["settings"],
  more: ServerOptions,
): Promise<RestrictedServer> {
  const folder = await mkdtemp(join(tmpdir(), "probelab-users-"));
  const data = more.data ?? join(folder, "data");
  const names = Object.keys(users);
  const profiles = { default: { settings }, ...users };
  const user = (name: string, password: string, more = "") =>
    `<${name}><password>${password}</password><networks><ip>::/0</ip></networks><profile>${name}</profile><quota>default</quota>${more}</${name}>`;
  await writeFile(
    join(folder, "users.xml"),
    `<clickhouse>
<profiles>${Object.entries(profiles).map(profileXml).join("\n")}</profiles>
<quotas><default/></quotas>
<users>${user("default", "", "<access_management>1</access_management>")}
${names.map((name) => user(name, xmlText(users[name]?.password ?? PASSWORD), grantsXml(users[name]) + rowsXml(users[name]))).join("\n")}</users>
</clickhouse>`,
  );
  const config = join(folder, "config.xml");
  await writeFile(
    config,
    `<clickhouse><users_config>${join(folder, "users.xml")}</users_config>${more.config ?? ""}</clickhouse>`,
  );
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [
      "-e",
      RUN,
      "--",
      `--path=${data}`,
      `--config-file=${config}`,
      "--listen_host=127.0.0.1",
      `--http_port=${port}`,
      ...(more.tcp === undefined ? [] : [`--tcp_port=${more.tcp}`]),
      `--query=${more.tcp === undefined ? "" : "SYSTEM START LISTEN TCP; "}SYSTEM START LISTEN HTTP; SELECT sleepEachRow(1) FROM system.numbers SETTINGS max_block_size=1, max_execution_time=0, max_result_rows=0, max_rows_to_read=0, limit=0 FORMAT Null`,
    ],
    { stdio: ["pipe", "ignore", "pipe"], env: { ...process.env, TZ: "UTC" } },
  );
  let said = "";
  child.stderr.on("data", (part: Buffer) => (said += part.toString()));
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  const admin = createClient({ url, database: "probelab" });
  const end = async () => {
    child.kill("SIGKILL");
    await ended;
    await admin.close();
    await rm(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + 60_000;
  const query = (sql: string) =>
    fetch(url, { method: "POST", body: sql, signal: AbortSignal.timeout(10_000) }).then(
      (answer) => answer.text(),
      () => undefined,
    );
  for (;;) {
    const path = await query("SELECT path FROM system.disks WHERE name = 'default'");
    if (path?.trim() === `${data}/`) break;
    if (path !== undefined || child.signalCode !== null || Date.now() > deadline) {
      await end();
      const reason = path === undefined ? said.slice(-2_000) : `${url} answers ${path}`;
      throw new Error(`The server did not start: ${reason}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await query("CREATE DATABASE IF NOT EXISTS probelab");
  return {
    url: `${url}/probelab`,
    as: (name) =>
      `http://${name}:${encodeURIComponent(users[name]?.password ?? PASSWORD)}@127.0.0.1:${port}/probelab`,
    admin,
    signal: (name) => void child.kill(name),
    [Symbol.asyncDispose]: end,
  };
}

function xmlText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function grantsXml({ grants }: Profile = { settings: {} }): string {
  if (grants === undefined) return "";
  return `<grants>${grants.map((grant) => `<query>${grant}</query>`).join("")}</grants>`;
}

function rowsXml({ rows }: Profile = { settings: {} }): string {
  if (rows === undefined) return "";
  const tables = Object.entries(rows).map(
    ([table, filter]) => `<${table}><filter>${xmlText(filter)}</filter></${table}>`,
  );
  return `<databases><probelab>${tables.join("")}</probelab></databases>`;
}

function profileXml([name, { settings, constraints = {} }]: [string, Profile]): string {
  const tags = (values: Readonly<Record<string, string | number>>) =>
    Object.entries(values)
      .map(([key, value]) => `<${key}>${value}</${key}>`)
      .join("");
  const bounds = Object.entries(constraints).map(([key, { readonly, ...limits }]) => {
    return `<${key}>${tags(limits)}${readonly ? "<readonly/>" : ""}</${key}>`;
  });
  return `<${name}>${tags(settings)}<constraints>${bounds.join("")}</constraints></${name}>`;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
