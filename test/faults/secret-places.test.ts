import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { inflateSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { jsonScript } from "../../src/chart/render/page/page-document.js";
import { parquetMetadata } from "hyparquet";
import { readOrigins } from "../../src/chart/render/origin.js";
import { originText } from "../../src/cli/origin.js";
import { inertJson } from "../../src/cli/terminal.js";
import { openWriter } from "../../src/database/writer.js";
import { findSource } from "../../src/database/settings.js";
import { between, chart, connect, postmortem, ProbelabError } from "../../src/index.js";
import { table, testLists, type Lab, type Result } from "../../src/index.js";
import { mimeBundle } from "../../src/kernel/show.js";
import { notebookFolder, readCells, writeCells } from "../kernel/notebook-fixture.js";
import { probelab } from "../support/command.js";
import { ownFolder } from "../support/temporary-directory.js";
import { restrictedServer, type RestrictedServer } from "../support/restricted-server.js";

/** The password of a user who gets in: with what URLs, HTML, JSON, SQL and shells write otherwise. */
const PASSWORD = `s3cr&t"<w'rd>:@ é/1%`;
/** One that nobody is told of, in the environment and the cells of the commands. */
const PRINTED = "zqPrinted-S3cret";
const USER = "ann";
const range = between("2026-05-01", "2026-05-03");
const encoded = encodeURIComponent(PASSWORD);

const folder = ownFolder();
let server: RestrictedServer;
let lab: Lab;
let result: Result;
let printed: Record<string, Promise<string>> = {};

beforeAll(async () => {
  server = await restrictedServer({ [USER]: { settings: { readonly: 2 }, password: PASSWORD } });
  for (const query of [
    "CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String) ENGINE = MergeTree ORDER BY measurement_start_time",
    "INSERT INTO fastpath SELECT toDateTime('2026-05-01', 'UTC') + number * 3600, 'r' FROM numbers(48)",
  ])
    await server.admin.command({ query });
  lab = await connect({ measurements: server.as(USER) });
  const sql = `SELECT toStartOfDay(measurement_start_time) AS t, count() AS n FROM fastpath WHERE {range} AND report_id != '${PASSWORD.replaceAll("'", "\\'")}' AND report_id != {password:String} AND report_id != {other:String} GROUP BY t ORDER BY t`;
  result = await lab.query(sql, { range, params: { password: "hidden-too", other: PASSWORD } });
  printed = commands();
});

afterAll(async () => {
  await Promise.allSettled(Object.values(printed));
  await lab?.close();
  await server[Symbol.asyncDispose]();
});

/** Settings of a folder's own, with which a source is found. */
function configured(content: unknown, env: NodeJS.ProcessEnv = {}): unknown {
  const root = mkdtempSync(join(folder, "config-"));
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(join(root, "probelab.config.json"), text);
  return findSource("measurements", {}, env, root);
}

/** What somebody who writes JavaScript, or leaves the types out, hands to `connect`. */
const connectTo = (measurements: unknown) => connect({ measurements } as { measurements: string });
const ask = async (url: string) => (await connect({ measurements: url })).close();

function fromEnvironment(given: NodeJS.ProcessEnv, secret: string): Error {
  for (const name of ["measurements", "logs"] as const) {
    try {
      findSource(name, {}, given, folder);
    } catch {
      // The refusal itself is another place.
    }
  }
  return new ProbelabError(`Can't read this: ${secret}.`);
}

async function saved(name: string, value: { save(path: string): Promise<string> }) {
  return readFileSync(await value.save(join(folder, "saved", name)));
}

const bars = () => chart.bar(result, { x: "t", y: "n", title: "Bars" });

let written: Promise<string> | undefined;

/** A report that its writer put passwords into, saved once. */
const report = (): Promise<string> => (written ??= writeReport(PRINTED));

async function writeReport(p: string): Promise<string> {
  const address = `https://${USER}:${p}@example.org/x?token=${p}`;
  const made = postmortem({ title: `Told at ${address}`, severity: 4, detectedAt: "2026-05-02" })
    .set({ summary: `password=${p}`, trigger: ["Basic", `clickhouse://${USER}:${p}@h/db`] })
    .add(bars(), { name: "bars", caption: `PROBELAB_LOGS_PASSWORD=${p}` })
    .add(table(result), { name: "rows" })
    .finding(`As ${PASSWORD} shows`, address)
    .timeline("2026-05-02", `Authorization: Bearer ${p}`, address)
    .action({ what: `Change ${PASSWORD}`, reference: address });
  return made.save(join(folder, "report"), { now: "2026-05-05T10:00:00Z" });
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "",
    (error: unknown) => error,
  );
}

/** Every place in which a text leaves, with a password that was written where people write one. */
const places: [place: string, leave: (secret: string) => unknown][] = [
  // What `connect` refuses.
  ["connect: a misspelt scheme", (p) => connectTo(`htp://${USER}:${p}@h/db`)],
  ["connect: clickhouse://", (p) => connectTo(`clickhouse://${USER}:${p}@h/db`)],
  ["connect: tcp:// with a user", (p) => connectTo(`tcp://${USER}:${p}@h:9000`)],
  ["connect: an object", (p) => connectTo({ url: "http://h", user: USER, password: p })],
  ["connect: a URL object", (p) => connectTo(new URL(`http://${USER}:${p}@h:1/db`))],
  [
    "connect: tables with a password",
    (p) => connect({ tables: { measurements: { password: p } as object } }),
  ],
  // What `connect` can't reach.
  ["connect: a closed port", (p) => ask(`http://${USER}:${p}@127.0.0.1:1/db`)],
  [
    "connect: TLS to a plain port",
    (p) => ask(`https://${USER}:${p}@${new URL(server.url).host}/db`),
  ],
  ["connect: a wrong password", (p) => ask(`${server.url.replace("//", `//${USER}:${p}@`)}`)],
  ["connect: ?password= of a URL", (p) => ask(`${server.url}-none?user=${USER}&password=${p}`)],
  // Configuration.
  ["config: an object", (p) => configured({ measurements: { url: "http://h", password: p } })],
  ["config: a cut file", (p) => configured(`{ "measurements": { "password":"${p}" x`)],
  // The environment.
  [
    "PROBELAB_MEASUREMENTS that is refused",
    (p) => configured({}, { PROBELAB_MEASUREMENTS: `htp://a:${p}@h` }),
  ],
  [
    "…_PASSWORD beside a URL that is refused",
    (p) =>
      fromEnvironment({ PROBELAB_MEASUREMENTS: "htp://h", PROBELAB_MEASUREMENTS_PASSWORD: p }, p),
  ],
  [
    "the address of the test lists",
    (p) => testLists.fetch({ country: "IT", baseUrl: `http://a:${p}@h` }),
  ],
  // A lab that is open.
  ["a lab, inspected", () => inspect(lab, { depth: 12, showHidden: true })],
  ["a lab's source and notes", () => [lab.source, lab.notes]],
  ["a lab, shown", () => mimeBundle(lab)],
  [
    "a syntax error",
    () => errorOf(lab.query(`SELECT '${encoded}' FRM x WHERE {range}`, { range })),
  ],
  // What is exported.
  ["a chart's spec", () => JSON.stringify(bars().spec)],
  ["a chart, shown", () => mimeBundle(bars())],
  ...["svg", "png", "html", "csv", "parquet"].map((kind): [string, () => unknown] => [
    `a chart as .${kind}`,
    () => saved(`chart.${kind}`, bars()),
  ]),
  ["a table, shown", () => mimeBundle(table(result))],
  [
    "what origin prints of a stranger's file",
    (p) => {
      const sql = `SELECT '${PASSWORD}' FROM url('http://a:${p}@h')`;
      const record = { sql, source: `tcp://h?password=${p}`, notes: [PASSWORD], password: p };
      const block = jsonScript("probelab-origin", record);
      const origins = readOrigins(Buffer.from(`<html>${block}</html>`));
      return [...origins.map(originText), inertJson(origins)];
    },
  ],
  [
    "a postmortem's folder",
    async () => {
      const path = await report();
      const names = readdirSync(path, { recursive: true, withFileTypes: true });
      return names
        .filter((each) => each.isFile())
        .map((each) => [each.name, readFileSync(join(each.parentPath, each.name))]);
    },
  ],
  // What commands print, and write.
  ["doctor", () => printed["doctor"]],
  ["drop, of a configuration object", () => printed["drop"]],
  [
    "load into a server",
    (p) => openWriter(findSource("measurements", { measurements: `http://a:${p}@h/db` })),
  ],
  ["run: what it prints and writes of errors", () => printed["run"]],
  ["run: what it prints of a type error", () => printed["typeError"]],
];

it.each(places.map(([place, leave], at) => [place, leave, `zq${at}S3cret!x`] as const))(
  "no password leaves by %s",
  async (_, leave, own) => {
    const refused = (error: unknown) => {
      expect(String(error)).toMatch(/^ProbelabError: Can't /);
      return error;
    };
    const texts = textsOf(await Promise.resolve(own).then(leave).catch(refused));
    expect(texts.join("").length).toBeGreaterThan(0);
    for (const secret of [own, PASSWORD, PRINTED])
      for (const form of formsOf(secret)) {
        const leaks = texts.filter((text) => text.includes(form));
        expect(leaks.map((text) => around(text, form))).toEqual([]);
      }
  },
);

it("takes a password in an error's cause for a leak", () => {
  const raw = new Error("outer", { cause: new Error(`http://${USER}:${encoded}@h`) });
  expect(textsOf(raw).some((text) => text.includes(encoded))).toBe(true);
});

/** A secret as URLs, forms, JSON, HTML, inspected texts, SQL, and headers write it. */
function formsOf(secret: string): string[] {
  const base64 = [secret, `${USER}:${secret}`].map((text) => Buffer.from(text).toString("base64"));
  const html = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ "": secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    html,
    html.replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
    html.replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
    secret.replaceAll("'", "\\'"),
    ...base64,
    ...base64.map(encodeURIComponent),
    ...base64.map((text) => text.replace(/=+$/, "")),
  ];
}

/** All the texts in what left: of an error also its causes and stacks, of a file what is packed in it. */
function textsOf(left: unknown): string[] {
  if (typeof left === "string") return [left];
  if (Buffer.isBuffer(left))
    return [left.toString("latin1"), left.toString("utf8"), ...unpacked(left)];
  if (Array.isArray(left)) return left.flatMap(textsOf);
  const shown = [inspect(left, { depth: 12, showHidden: true }), JSON.stringify(left) ?? ""];
  if (!(left instanceof Error)) return shown;
  return [
    ...shown,
    String(left),
    left.stack ?? "",
    ...(left.cause === undefined ? [] : [inspect(left.cause)]),
  ];
}

/** The chunks of a picture that are packed, and what Parquet holds of its origin. */
function unpacked(bytes: Buffer): string[] {
  const head = bytes.toString("latin1", 0, 4);
  if (head === "PAR1")
    return [JSON.stringify(parquetMetadata(new Uint8Array(bytes).buffer).key_value_metadata)];
  if (head !== "\x89PNG") return [];
  const found: string[] = [];
  for (let at = bytes.indexOf(0x78); at >= 0; at = bytes.indexOf(0x78, at + 1)) {
    if (bytes.readUInt16BE(Math.min(at, bytes.length - 2)) % 31 !== 0) continue;
    try {
      found.push(inflateSync(bytes.subarray(at)).toString("utf8"));
    } catch {
      // Bytes that only look like the beginning of a stream.
    }
  }
  return found;
}

const around = (text: string, form: string): string => {
  const at = text.indexOf(form);
  return text.slice(Math.max(0, at - 60), at + form.length + 20);
};

/** What the commands print, and a run writes, with refused sources and passwords in their environment. */
function commands(): typeof printed {
  const env = {
    PROBELAB_MEASUREMENTS: `tcp://${USER}:${PRINTED}@h:9000?password=${PRINTED}`,
    PROBELAB_MEASUREMENTS_PASSWORD: PASSWORD,
    PRINTED,
  };
  const command = async (cwd: string, given: string[], more: NodeJS.ProcessEnv = env) => {
    const { out, err } = await probelab(given, { cwd, env: more });
    return out + err;
  };
  const config = join(folder, "config");
  mkdirSync(config);
  const object = { measurements: { url: "http://h", password: PRINTED } };
  writeFileSync(join(config, "probelab.config.json"), JSON.stringify(object));
  return {
    doctor: command(folder, ["doctor"]),
    drop: command(config, ["drop"], { ...env, PROBELAB_MEASUREMENTS: "" }),
    run: runOf(
      (path) => command(path, ["run", "test.ipynb"]),
      `import { connect } from "probelab";
      const wrong = await connect().catch((error: unknown) => error);
      console.error(wrong);
      wrong`,
      `const at = process.env["PRINTED"], known = process.env["PROBELAB_MEASUREMENTS_PASSWORD"];
      const cause = new AggregateError([new Error("http://ann:" + at + "@h"), known], "jdbc:ch://h?password=" + at);
      throw new TypeError("Nobody knows " + known, { cause });`,
    ),
    typeError: runOf(
      (path) => command(path, ["run", "test.ipynb"]),
      `const source: number = "http://ann:${PRINTED}@h/db";`,
    ),
  };
}

async function runOf(run: (path: string) => Promise<string>, ...cells: string[]): Promise<string> {
  const { path, remove } = await notebookFolder();
  try {
    await writeCells(path, cells);
    const said = await run(path);
    const written = await readCells(join(path, "out", "test.ipynb"));
    return [said, ...written.map(({ outputs }) => JSON.stringify(outputs))].join("\n");
  } finally {
    await remove();
  }
}
