import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { postmortem } from "../../src/index.js";
import { start as startCommand } from "../support/command.js";
import { ownDatabase } from "../support/own-database.js";

const database = ownDatabase();
const TABLES = {
  measurements: {
    table: "seen",
    time: "started at",
    software_name: "program",
    software_version: "version",
    report_id: "run",
    probe_cc: "cc",
  },
  logs: { table: "lines", time: "at", identifier: "said_by", message: "text", priority: "level" },
};

/**
 * Other names and types than the seed document's, and dirty rows. Ten weeks up to now: of the last
 * eight hours all Italian rows are missing; for ten days half of the runs are of 3.10.0, and half as long.
 */
beforeAll(async () => {
  for (const statement of [
    `CREATE TABLE seen (\`started at\` DateTime64(6, 'UTC'), run Nullable(String), program LowCardinality(Nullable(String)),
       version Nullable(String), test_name LowCardinality(String), cc FixedString(2), probe_asn Int64, msm_failure UInt8)
     ENGINE = MergeTree ORDER BY \`started at\``,
    `INSERT INTO seen SELECT now64(6) - number * 40 AS t, concat(v, toString(intDiv(number, if(v = '3.10.0', 10, 20)))),
       'probe-android-unattended', if(number < 21600 AND cityHash64(1, intDiv(number, 20)) % 2 = 0, '3.10.0', '3.9.1') AS v,
       'web_connectivity', ['IT', 'FR', 'US'][1 + cityHash64(2, number) % 3] AS country, cityHash64(3, number) % 4, cityHash64(4, number) % 50 = 0
     FROM numbers(151200) WHERE NOT (number < 720 AND country = 'IT')`,
    // Of no time, of no run, of a program and a version that steer a terminal.
    `INSERT INTO seen SELECT toDateTime64(0, 6, 'UTC'), 'x', 'p', '1', 'web_connectivity', 'IT', 1, 0 FROM numbers(50)`,
    `INSERT INTO seen SELECT now64(6) - 600, NULL, '\u001b[2Jevil', '3.10.0\u202e', 'web_connectivity', 'IT', 1, 0 FROM numbers(3)`,
    "CREATE TABLE lines (at Int64, said_by Nullable(String), text Nullable(String), level LowCardinality(String)) ENGINE = MergeTree ORDER BY at",
    `INSERT INTO lines SELECT toUnixTimestamp64Micro(now64(6)) - number * 600000000, ['probe-api', 'fastpath'][1 + number % 2],
       if(number = 1, 'queue is full\n\u001b[31mof 203.0.113.7', if(number = 3, NULL, 'lag 4 s')), if(number = 0, 'warning', 'info') FROM numbers(2000)`,
    `CREATE TABLE test_helper_instances (rdn String, dns_zone String, name String, region String, draining_at Nullable(DateTime('UTC')))
     ENGINE = MergeTree ORDER BY name`,
    ...[
      [3 * 24 * 60, "NULL"],
      [10 * 24 * 60, "NULL"],
      [17 * 24 * 60, "now() - 5400"],
    ].map(
      ([minutes, drained]) =>
        `INSERT INTO test_helper_instances SELECT '1', 'th.example', concat('th-', formatDateTime(now() - ${minutes! as number} * 60, '%Y%m%d%H%i%S', 'UTC')), 'fra1', ${drained!}`,
    ),
  ]) {
    await database.writer.command(statement);
  }
});

const start = (args: readonly string[]) =>
  startCommand(args, {
    env: {
      PROBELAB_MEASUREMENTS: database.url,
      PROBELAB_LOGS: database.url,
      PROBELAB_TABLES: JSON.stringify(TABLES),
    },
  });

const probelab = (...args: string[]) => start(args).ended;

/** Follows until the text was printed, then interrupts. */
async function followed(args: readonly string[], until: string) {
  const { child, said, ended } = start(args);
  await new Promise<void>((resolve) => {
    child.stdout.on("data", () => said.out.includes(until) && resolve());
    child.on("close", () => resolve());
  });
  child.kill("SIGINT");
  return ended;
}

test("probelab drop says since when, how much and in which country, and ends with 8", async () => {
  const [text, quiet, few] = await Promise.all([
    probelab("drop", "--json"),
    probelab("drop", "--where", "probe_cc=FR", "--last", "24h", "--time-zone", "Europe/Rome"),
    probelab("drop", "--where", "msm_failure=1", "--where", "probe_cc=FR", "--last", "24h"),
  ]);
  expect(text.err).toBe("");
  expect(text.code).toBe(8);
  const told = JSON.parse(text.out) as Record<string, unknown>;
  expect(told).toMatchObject({
    found: true,
    state: "dropping",
    causes: [{ where: { probe_cc: "IT" } }],
    headline: expect.stringMatching(/^Measurements are down by \d+ % until now$/) as string,
  });
  const hours = (Date.now() - Date.parse(told["since"] as string)) / 3_600_000;
  expect(hours).toBeGreaterThan(3);
  expect(hours).toBeLessThan(10);
  expect(quiet).toMatchObject({ code: 0, err: "" });
  expect(few).toMatchObject({ code: 9, err: "" });
  expect(few.out).toMatch(
    /^No drop was seen, but half of a program, country or network could be lost\.\n+Over 24 hours a complete stop/,
  );
  expect(quiet.out).toContain("Europe/Rome");
  expect(quiet.out).toMatch(
    /^No sudden drop of measurements\.\n+Over 24 hours a drop of \d+ %, a (complete stop|drop of \d+ %) of a usual\s+program[^]*\sMeasurements\s+have\s+not\s+stopped/,
  );
});

test("probelab release compares a version with the one before it, or says why it can't", async () => {
  const [text, none, unclear] = await Promise.all([
    probelab("release", "3.10.0"),
    probelab("release", "3.11.0", "--json"),
    probelab("release", "3.10.0", "--previous", "2.0"),
  ]);
  expect(text.err).toBe("");
  expect(text.code).toBe(8);
  const [headline = ""] = text.out.split("\n");
  expect(headline).toMatch(/^probe-android-unattended 3\.10\.0: median run duration −\d+ %\.$/);
  expect(headline.split(" ").length).toBeLessThanOrEqual(12);
  expect(text.out.replace(/\s+/g, " ")).toMatch(
    /runs against [\d,]+ of 3\.9\.1 in web_connectivity/,
  );
  expect(text.out.replace(/\s+/g, " ")).toMatch(
    / Median measurements per run fell by 10 \(50 %\), from 20 to 10\..* As before: .*share of failed measurements.* [\d,]+ runs against [\d,]+ of 3\.9\.1 /,
  );
  expect(text.out).toMatch(/\nruns +[\d,]+ +[\d,]+\n/);
  expect(text.out).toMatch(/\nMeasurements per run, median +20 +10 +−50 % .*moved\n/);
  expect(none.code).toBe(9);
  expect(JSON.parse(none.out)).toMatchObject({
    found: false,
    undecided: true,
    headline: expect.stringMatching(/^I can't tell yet how (\S+ )?3\.11\.0 does$/) as string,
    evidence: expect.stringMatching(/^No measurement/) as string,
  });
  expect(unclear.code).toBe(9);
  expect(unclear.out.replace(/\s+/g, " ")).toMatch(
    /probe-android-unattended 2\.0 has 0 runs of web_connectivity, .*; 20 are needed\. Name another as previous\./,
  );
});

test("probelab helpers tells who is next and that it is too early, with 8", async () => {
  const { code, out, err } = await probelab("helpers");
  expect(err).toBe("");
  expect(out).toMatch(
    /Next to rotate: th-\d+ \(1\.th\.example\), the oldest live one, 10\.0 days old\./,
  );
  expect(out).toMatch(
    /Don't rotate now: DNS changed 1 h 3\d min ago\. The earliest safe moment is \d+ \w+ \d{4} /,
  );
  expect(out).toMatch(/\nth-\d{14} +1\.th\.example +fra1 +live +\S+ \S+ +10\.0 +next\n/);
  expect(code).toBe(8);
});

test("probelab logs prints lines that can't steer a terminal, and ends with 9 where none is", async () => {
  const [text, masked, none, gone] = await Promise.all([
    probelab("logs", "--search", "queue"),
    probelab("logs", "--program", "fastpath", "--limit", "1", "--json", "--mask"),
    probelab("logs", "--search", "no such text"),
    probelab("logs", "--where", "program=x"),
  ]);
  expect(text).toMatchObject({ code: 0, err: "" });
  expect(text.out).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} fastpath <info> queue is full<U\+000A><U\+001B>\[31mof 203\.0\.113\.7\n$/,
  );
  expect(JSON.parse(masked.out)).toMatchObject({
    identifier: "fastpath",
    message: "queue is full\n\u001b[31mof [IPv4]",
  });
  expect(masked.err).toMatch(/The newest 1 lines; the range holds more/);
  expect(none).toMatchObject({ code: 9, out: "" });
  expect(none.err).toMatch(
    /matches the filter by contains; there are lines of fastpath, probe-api/,
  );
  expect(gone).toMatchObject({ code: 1, out: "" });
  expect(gone.err).toMatch(/program.*did you mean|no column|Can't find a column/);
});

test("probelab logs --incident adds the sentence and the rows to an incident's folder", async () => {
  const out = mkdtempSync(join(tmpdir(), "probelab-answers-"));
  try {
    const opened = await probelab(
      ...["incident", "open", "Queue is full", "--severity", "3", "--out", out],
    );
    const folder = join(out, readdirSync(out)[0]!);
    expect(opened.err).toBe("");
    const found = await probelab("logs", "--search", "queue", "--incident", folder);
    expect(found).toMatchObject({ code: 0, err: "" });
    const first = await postmortem.open(folder);
    expect(first.draft.findings[0]?.text).toMatch(/^1 log message with contains "queue", /);
    expect(first.figures[0]?.content.result.column("message")[0]).toContain("queue is full");
    const none = await probelab("logs", "--search", "queue", "--incident", join(out, "nowhere"));
    expect(none.err).toMatch(/^Can't open the incident in .*: it has no entries/);
    expect(none.code).toBe(1);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});

test("probelab logs -f gives a new line once, after those that were there, until Ctrl-C", async () => {
  const following = followed(["logs", "-f", "--search", "line", "--last", "10min"], "second line");
  const line = (text: string, ago: number) =>
    database.writer.command(
      `INSERT INTO lines SELECT toUnixTimestamp64Micro(now64(6)) - ${ago}, 'new', '${text}', 'info'`,
    );
  await line("first line", 5_000_000);
  await line("second line", 0);
  const { code, out, err } = await following;
  expect({ code, err }).toEqual({
    code: 0,
    err: expect.stringMatching(/^(No line .*\n)?$/) as string,
  });
  expect(out.match(/first line/g)).toHaveLength(1);
  expect(out.match(/second line/g)).toHaveLength(1);
});

test("docs/shell.md: every command runs", async () => {
  const text = readFileSync(new URL("../../docs/shell.md", import.meta.url), "utf8");
  const commands = [...text.matchAll(/^npx probelab (.*)$/gm)].map(([, line = ""]) =>
    [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ""),
  );
  expect(commands.length).toBeGreaterThan(6);
  const ended = commands.map((args) =>
    args.includes("-f")
      ? followed([...args, "--last", "24h"], "queue is full")
      : probelab(...args.map((one) => one.replace("3.9.0", "3.9.1"))),
  );
  for (const [at, { code, err }] of (await Promise.all(ended)).entries()) {
    expect(err, commands[at]!.join(" ")).not.toMatch(/Can't|error/i);
    expect([0, 8, 9, 10], commands[at]!.join(" ")).toContain(code);
  }
});
