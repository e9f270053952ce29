import { describe, expect, it } from "vitest";
import { between, connect, type Lab } from "../../../src/index.js";
import { ownDatabase } from "../../support/own-database.js";
import { EPOCH, MINUTE, writeLogs, type LogRow } from "./log-rows.js";

const own = ownDatabase();

const range = between(new Date(EPOCH), new Date(EPOCH + 60 * MINUTE));
const id = (cc: string, asn: number | string, random: string) =>
  `20260429T235900Z_webconnectivity_${cc}_${asn}_n1_${random}`;

function post(minute: number, report: string, end = ": 200, 3 measurements"): LogRow {
  const micros = (EPOCH + minute * MINUTE) * 1000;
  const message = `POST /report/${report} from 203.0.113.9${end}`;
  return { micros, identifier: "probe-api", priority: 6, host: "api1", message };
}

async function given(
  stored: readonly (readonly [report: string, cc: string, asn: string, time?: string])[],
  asnType = "UInt32",
): Promise<Lab> {
  await own.writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, probe_cc String, probe_asn ${asnType})
     ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  for (const [report, cc, asn, time = "2026-04-29 23:59:10"] of stored) {
    await own.writer.command(
      `INSERT INTO fastpath VALUES ('${time}', '${report}', '${cc}', ${asn})`,
    );
  }
  return own.open();
}

describe("submissions", () => {
  it("tells each report's worst finding against what is stored", async () => {
    const good = id("IT", 30722, "good");
    const moved = id("IT", 30722, "moved");
    const network = id("IT", 30722, "network");
    await writeLogs(own.writer, [
      post(1, good),
      post(2, good, ": 502, the queue is full"),
      post(3, moved),
      post(4, network),
      post(5, id("IT", 30722, "lost")),
      post(6, id("IT", 30722, "refused"), ": 502, the queue is full"),
      post(7, id("IT", "AS1", "odd")),
      { ...post(8, good), message: "GET /report/ignored" },
    ]);
    await using lab = await given([
      [good, "IT", "30722"],
      [good, "IT", "30722"],
      [moved, "GE", "30722"],
      [network, "IT", "30722"],
      [network, "IT", "1"],
    ]);
    const found = await lab.logs.submissions({ range });
    const rows = found.rows().map((row) => [row.finding, row.measurements, row.detail]);
    expect(rows).toEqual([
      ["stored", 2, ""],
      ["country", 1, "Claims IT, stored GE."],
      ["network", 2, "Claims AS30722, stored 1+30722."],
      ["missing", 0, "The table holds no measurement of it."],
      ["refused", 0, "Answered 502, the queue is full."],
      ["unreadable", 0, expect.stringMatching(/Can't read the probe ASN "AS1"/)],
    ]);
    expect(found.rows(1)).toMatchObject([{ t: new Date(EPOCH + MINUTE), report_id: good }]);
    expect(found.origin.notes[0]).toBe(
      "Of 6 submitted reports: 1 unreadable, 1 refused, 1 missing, 1 country, 1 network, 1 stored.",
    );
  });

  it("reads measurements of the day before the range, and ASNs that are text", async () => {
    const [early, older] = [id("IT", 30722, "early"), id("IT", 30722, "older")];
    await writeLogs(own.writer, [post(1, early), post(2, older)]);
    await using lab = await given(
      [
        [early, "IT", "'AS30722'", "2026-04-29 12:00:00"],
        [older, "IT", "'AS30722'", "2026-04-28 12:00:00"],
      ],
      "String",
    );
    const found = await lab.logs.submissions({ range });
    expect(found.column("finding")).toEqual(["stored", "missing"]);
  });

  const ready: readonly [string, (report: string, status: number) => string][] = [
    ["plain", (r, s) => `POST /report/${r} from 203.0.113.9: ${s}, 3 measurements`],
    ["a prefix", (r, s) => `2026-04-30 00:01:00 INFO api[7]: POST /report/${r}: ${s}`],
    ["an arrow", (r, s) => `[api] POST /v1/report/${r} from 2001:db8::1 -> ${s}`],
    [
      "combined",
      (r, s) =>
        `203.0.113.9 - - [30/Apr/2026:00:01:00 +0000] "POST /report/${r} HTTP/1.1" ${s} 157 "-" "probe/3.20"`,
    ],
    [
      "a virtual host",
      (r, s) =>
        `api.example.org:443 ::1 - ann [30/Apr/2026:00:01:00 +0000] "POST /report/${r} HTTP/1.1" ${s} 0`,
    ],
    [
      "a method and a path",
      (r, s) => `{"time": 1, "method": "POST", "path": "/report/${r}", "status": ${s}}`,
    ],
  ];

  it.each(ready)("reads lines of %s", async (_, line) => {
    const [good, lost, refused] = ["good", "lost", "refused"].map((name) => id("IT", 1, name));
    const row = (minute: number, message: string) => ({ ...post(minute, "x"), message });
    await writeLogs(own.writer, [
      row(1, line(good ?? "", 200)),
      // Refused at first: sent again, it was accepted.
      row(2, line(lost ?? "", 503)),
      row(3, line(lost ?? "", 201)),
      row(4, line(refused ?? "", 413)),
      row(5, line(`${good ?? ""}/close`, 200)),
      row(6, line("unrelated", 200).replace("POST", "GET")),
      row(7, `upstream timed out, request: "POST /report/${good ?? ""} HTTP/1.1", upstream: x`),
    ]);
    await using lab = await given([[good ?? "", "IT", "1"]]);
    const found = await lab.logs.submissions({ range });
    expect(found.rows().map((each) => [each["report_id"], each["finding"]])).toEqual([
      [good, "stored"],
      [lost, "missing"],
      [refused, "refused"],
    ]);
    expect(found.rows()[2]?.["detail"]).toMatch(/^Answered 413/);
  });

  /** A lab on the same tables, of a deployment whose lines have these forms. */
  const withForms = (forms: Readonly<Record<string, string | readonly string[]>>) =>
    connect({ measurements: own.url, logs: own.url, tables: { logs: { forms } } });

  it("reads forms of one's own before the ready ones", async () => {
    const submission = [
      "got (?:a|the) report=(?P<report>\\S+) \\((\\d+)\\)",
      "^stored=(\\S+) code=(\\d+)$",
    ];
    const lines = [
      `got the report=${id("IT", 1, "own")} (3)`,
      `stored=${id("IT", 1, "code")} code=502`,
      `"POST /report/${id("IT", 1, "web")} HTTP/1.1" 200 1`,
    ];
    await writeLogs(
      own.writer,
      lines.map((message, at) => ({ ...post(at + 1, "x"), message })),
    );
    await given([[id("IT", 1, "own"), "IT", "1"]]).then((lab) => lab.close());
    await using lab = await withForms({ submission });
    const found = await lab.logs.submissions({ range });
    expect(found.column("finding")).toEqual(["stored", "refused", "missing"]);
    expect(found.origin.notes).toContain("1 line without a status count as accepted.");
  });

  it("tells no all-clear where no line has the form, and says what it looked at", async () => {
    const messages = ["GET /", "report stored", `POST /other/${id("IT", 1, "x")}`];
    await writeLogs(
      own.writer,
      messages.map((message, at) => ({ ...post(at + 1, "x"), message })),
    );
    await using lab = await given([[id("IT", 1, "good"), "IT", "1"]]);
    const found = await lab.logs.submissions({ range });
    expect(found.numRows()).toBe(0);
    expect(found.origin.notes).toEqual([
      expect.stringMatching(
        /^No line of .* has a known form of a submitted report, so nothing can be said of what is stored\. fastpath holds measurements of 1 report of .*forms\.submission\.$/,
      ),
    ]);
  });

  it("says where nothing at all is stored; lines without a message or a program are lines", async () => {
    await own.writer.command(
      "CREATE OR REPLACE TABLE logs (__REALTIME_TIMESTAMP DateTime64(3, 'UTC'), SYSLOG_IDENTIFIER LowCardinality(Nullable(String)), message Nullable(String)) ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP",
    );
    await own.writer.command(
      `INSERT INTO logs VALUES ('2026-04-30 00:01:00', NULL, NULL), ('2026-04-30 00:02:00', NULL, 'POST /report/${id("IT", 1, "a")}')`,
    );
    await using lab = await given([]);
    const found = await lab.logs.submissions({ range });
    expect(found.column("finding")).toEqual(["missing"]);
    expect(found.origin.notes.at(-1)).toMatch(/^fastpath holds no measurement of .* UTC\.$/);
    const lines = await lab.logs.search({ range, mask: true });
    expect(lines.column("message")).toEqual([expect.stringMatching(/^POST/), null]);
  });

  it("refuses unknown options and forms that can't be used", async () => {
    await using lab = await given([]);
    await expect(
      lab.logs.submissions({ range, hosts: "a" } as object as { range: typeof range }),
    ).rejects.toThrow(/with the option "hosts": did you mean host\?/);
    const refused = (forms: object) => expect(withForms(forms as Record<string, string>)).rejects;
    await refused({ submission: "report" }).toThrow(/first brackets hold the report's id/);
    await refused({ submission: "\\(report\\) (?:x)" }).toThrow(/first brackets hold/);
    await refused({ checkin: "(api)" }).toThrow(/did you mean checkIn\?/);
  });
});

it.each([
  ["check-in probe-cli/3.20 probe_cc=IT from 203.0.113.9: 100 URLs", 100],
  ["api[3]: check-in probe-cli/3.20: 7 URLs", 7],
  ['{"path":"/api/v1/check-in","probe_cc":"IT","urls": 99}', 99],
  ["slow check-in, 100 URLs", undefined],
])("checkIn reads %s", async (message, urls) => {
  await writeLogs(own.writer, [{ ...post(1, "x"), message }]);
  await using lab = await given([]);
  const found = await lab.logs.checkIn({ range, every: "all" });
  expect(found.rows()[0]?.most).toBe(urls);
});
