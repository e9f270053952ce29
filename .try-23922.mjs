// test/support/restricted-server.ts
import { createClient } from "@clickhouse/client";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
var PASSWORD = "s3cret";
var READERS = {
  ro1: { settings: { readonly: 1 } },
  ro2: { settings: { readonly: 2 } },
  bound: {
    settings: {
      readonly: 2,
      max_execution_time: 30,
      max_memory_usage: 1e9,
      max_result_rows: 51e3
    },
    constraints: {
      max_execution_time: { max: 30 },
      max_memory_usage: { max: 1e9 },
      max_result_rows: { max: 51e3 }
    }
  }
};
var RUN = `
process.stdin.resume().on("close", () => process.kill(process.pid, "SIGKILL"));
const { open, load, DataType } = require("ffi-rs");
open({ library: "chdb", path: require("chdb/libchdb").libchdbPath() });
const argv = ["clickhouse", ...process.argv.slice(1)];
load({ library: "chdb", funcName: "chdb_query_cmdline", retType: DataType.I64, runInNewThread: true,
  paramsType: [DataType.I32, DataType.StringArray], paramsValue: [argv.length, argv] });
`;
async function restrictedServer(users = READERS, settings = {}) {
  const folder = await mkdtemp(join(tmpdir(), "probelab-users-"));
  const names = Object.keys(users);
  const profiles = { default: { settings }, ...users };
  const user = (name, password, more = "") => `<${name}><password>${password}</password><networks><ip>::/0</ip></networks><profile>${name}</profile><quota>default</quota>${more}</${name}>`;
  await writeFile(
    join(folder, "users.xml"),
    `<clickhouse>
<profiles>${Object.entries(profiles).map(profileXml).join("\n")}</profiles>
<quotas><default/></quotas>
<users>${user("default", "", "<access_management>1</access_management>")}
${names.map((name) => user(name, PASSWORD)).join("\n")}</users>
</clickhouse>`
  );
  const config = join(folder, "config.xml");
  await writeFile(
    config,
    `<clickhouse><users_config>${join(folder, "users.xml")}</users_config></clickhouse>`
  );
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [
      "-e",
      RUN,
      "--",
      `--path=${join(folder, "data")}`,
      `--config-file=${config}`,
      "--listen_host=127.0.0.1",
      `--http_port=${port}`,
      "--query=SYSTEM START LISTEN HTTP; SELECT sleepEachRow(1) FROM system.numbers SETTINGS max_block_size=1, max_execution_time=0, max_result_rows=0, max_rows_to_read=0, limit=0 FORMAT Null"
    ],
    { stdio: ["pipe", "ignore", "pipe"], env: { ...process.env, TZ: "UTC" } }
  );
  let said = "";
  child.stderr.on("data", (part) => said += part.toString());
  const ended = new Promise((resolve) => child.on("exit", () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  const admin = createClient({ url, database: "probelab" });
  const end = async () => {
    child.kill("SIGKILL");
    await ended;
    await admin.close();
    await rm(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + 6e4;
  const create = () => fetch(url, { method: "POST", body: "CREATE DATABASE IF NOT EXISTS probelab" }).then(
    ({ ok }) => ok,
    () => false
  );
  while (!await create()) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await end();
      throw new Error(`The server did not start: ${said.slice(-2e3)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url: `${url}/probelab`,
    as: (name) => `http://${name}:${PASSWORD}@127.0.0.1:${port}/probelab`,
    admin,
    [Symbol.asyncDispose]: end
  };
}
function profileXml([name, { settings, constraints = {} }]) {
  const tags = (values) => Object.entries(values).map(([key, value]) => `<${key}>${value}</${key}>`).join("");
  const bounds = Object.entries(constraints).map(([key, { readonly, ...limits }]) => {
    return `<${key}>${tags(limits)}${readonly ? "<readonly/>" : ""}</${key}>`;
  });
  return `<${name}>${tags(settings)}<constraints>${bounds.join("")}</constraints></${name}>`;
}
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

// ../../../tmp/transport/try2.ts
var s = await restrictedServer();
var base = s.url.replace("/probelab", "");
var ask = async (user, q, params = "", body) => {
  const t = performance.now();
  const r = await fetch(`${base}/?database=probelab&${params}`, { method: "POST", body: body ?? q, headers: { authorization: "Basic " + Buffer.from(`${user}:${user === "default" ? "" : PASSWORD}`).toString("base64") } });
  const b = Buffer.from(await r.arrayBuffer());
  return `${r.status} len=${b.length} ${b.toString("latin1").slice(0, 300)} ${r.headers.get("x-clickhouse-summary")} ${Math.round(performance.now() - t)}ms`;
};
var list = Array.from({ length: 1e5 }, (_, i) => `'some value number ${i}'`);
for (const u of ["default", "ro1", "ro2"]) {
  const f = new FormData();
  f.append("query", "SELECT length({list:Array(String)}) AS n");
  f.append("param_list", `[${list.join(",")}]`);
  console.log(u, "field size", await ask(u, "", "http_max_field_value_size=1073741824", f));
  for (const n of [5e3, 4e3]) {
    const g = new FormData();
    const parts = [];
    for (let i = 0; i < list.length; i += n) {
      g.append(`param_list_${parts.length}`, `[${list.slice(i, i + n).join(",")}]`);
      parts.push(`{list_${parts.length}:Array(String)}`);
    }
    g.append("query", `SELECT count() AS n FROM numbers(200000) WHERE 'some value number ' || toString(number) IN arrayConcat(${parts.join(",")})`);
    console.log(u, "pieces", n, await ask(u, "", "", g));
  }
  console.log(u, "url 200k", await ask(u, "SELECT length({a:String})", "param_a=" + "x".repeat(2e5)));
  console.log(u, "url 100k", await ask(u, "SELECT length({a:String})", "param_a=" + "x".repeat(1e5)));
  console.log(u, "url 900k parts", await ask(u, "SELECT length({a:String})", Array.from({ length: 9 }, (_, i) => `param_a${i || ""}=` + "x".repeat(1e5)).join("&")));
  console.log(u, "arrow", await ask(u, "SELECT number, toString(number%3) s FROM numbers(300000) FORMAT ArrowStream", "wait_end_of_query=1&buffer_size=67108864"));
  console.log(u, "json", await ask(u, "SELECT number, toString(number%3) s FROM numbers(3) FORMAT JSONCompact"));
}
var w = async (sql, user = "default", p = "") => console.log(sql.slice(0, 60), await ask(user, sql, p));
await w("SELECT name, value FROM system.settings WHERE name LIKE '%overflow_mode%' FORMAT TSV");
await w("SELECT name, value FROM system.settings WHERE name LIKE '%overflow_mode%' AND name > 'r' FORMAT TSV");
await w("SELECT name, value FROM system.settings WHERE name LIKE 'output_format_arrow%' FORMAT TSV");
await w("SELECT name, value FROM system.settings WHERE name LIKE '%null%' AND name not like 'input%' FORMAT TSV");
await s.admin.command({ query: "CREATE USER nogrant IDENTIFIED WITH plaintext_password BY 's3cret'" });
await s.admin.command({ query: "CREATE TABLE probelab.t (a Int64, b String) ENGINE=MergeTree ORDER BY a" });
await s.admin.command({ query: "GRANT SELECT ON probelab.t TO nogrant" });
for (const q of ["DESCRIBE TABLE probelab.t", "SELECT engine FROM system.tables WHERE name='t'", "SELECT name FROM system.columns WHERE table='t'", "SELECT query_id FROM system.processes", "SELECT name, value FROM system.settings LIMIT 2", "SELECT getSetting('limit'), getSetting('max_rows_to_read')", "SELECT version()", "SELECT 1 FROM system.one", "SELECT * FROM system.settings_profile_elements", "SHOW GRANTS", "DESCRIBE TABLE (SELECT a FROM probelab.t)", "KILL QUERY WHERE query_id='x'"]) await w(q, "nogrant");
await s[Symbol.asyncDispose]();
