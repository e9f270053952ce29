import { describe, expect, it } from "vitest";
import { between, type Lab } from "../../src/index.js";
import { writeLogs, type LogRow } from "../sources/logs/log-rows.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const DAY = Date.UTC(2026, 4, 8);
const WEEK = 7 * 86_400_000;
const range = between(new Date(DAY), new Date(DAY + 3_600_000));

interface Flow {
  readonly checkIns: number;
  readonly submitted: number;
  readonly refused: number;
  readonly missing: number;
}

/** What an hour of a service logs and stores. */
function hour(start: number, { checkIns, submitted, refused, missing }: Flow) {
  const line = (at: number, message: string): LogRow => ({
    identifier: "api",
    priority: 6,
    host: "api1",
    message,
    micros: (start + at * 1000) * 1000,
  });
  const id = (at: number) => `20260501T000000Z_webconnectivity_IT_30722_n1_${start / 1000}x${at}`;
  const lists = Array.from({ length: checkIns }, (_, at) =>
    line(at, "check-in probe-cli/3.20 probe_cc=IT from 203.0.113.9: 100 URLs"),
  );
  const posts = Array.from({ length: submitted }, (_, at) =>
    line(
      at,
      `POST /report/${id(at)} from 203.0.113.9: ${at < refused ? "502, the queue is full" : "200, 3 measurements"}`,
    ),
  );
  const stored = Array.from(
    { length: submitted - refused - missing },
    (_, at) =>
      `(fromUnixTimestamp(${start / 1000 + at}), '${id(refused + missing + at)}', 'IT', 30722)`,
  );
  return { lines: [...lists, ...posts], stored };
}

async function given(before: Flow, now: Flow, logs = true): Promise<Lab> {
  await own.writer.command(
    `CREATE OR REPLACE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, probe_cc String, probe_asn UInt32)
     ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  const hours = [hour(DAY - WEEK, before), hour(DAY, now)];
  await own.writer.command(
    `INSERT INTO fastpath VALUES ${hours.flatMap(({ stored }) => stored).join(", ")}`,
  );
  if (logs)
    await writeLogs(
      own.writer,
      hours.flatMap(({ lines }) => lines),
    );
  else await own.writer.command("DROP TABLE IF EXISTS logs");
  return own.open();
}

const usual: Flow = { checkIns: 1000, submitted: 900, refused: 9, missing: 2 };

describe("lab.funnel", () => {
  it.each([
    [
      "nobody",
      usual,
      /^No step lost much more of its reports than the week before\. A loss would be named from 18 % at check-in, 18 % at submit, 3 % at accepted, 3 % at stored\. 8 May 2026 00:00–01:00 UTC: check-in 1,000 \(1,000 the week before\), submit 900 \(900/,
    ],
    [
      "the probes",
      { checkIns: 500, submitted: 450, refused: 5, missing: 1 },
      /^It is the probes: .* −50 % against/,
    ],
    [
      "submission",
      { ...usual, submitted: 400, refused: 4 },
      /^It is the probes or their way to the collector: .* −56 %/,
    ],
    [
      "the pipeline",
      { ...usual, refused: 300 },
      /^It is the pipeline: reports are submitted and not accepted\. −33 %/,
    ],
    [
      "ingestion",
      { ...usual, missing: 500 },
      /^It is ingestion: reports are accepted and not stored\. −56 %/,
    ],
  ] as const)("tells that %s lost them", async (_, now, sentence) => {
    await using lab = await given(usual, now);
    const found = await lab.funnel({ range });
    expect(found.sentence).toMatch(sentence);
    expect(found).toMatchObject({ kind: "funnel", found: now !== usual });
    const accepted = now.submitted - now.refused;
    expect(found.result.rows()).toMatchObject([
      { step: "check-in", now: now.checkIns, before: 1000 },
      { step: "submit", now: now.submitted, before: 900 },
      { step: "accepted", now: accepted, before: 891 },
      { step: "stored", now: accepted - now.missing, before: 889, passed_before: 889 / 891 },
    ]);
  });

  it("names the step that let through 41 of 60 reports, and all 60 the week before", async () => {
    const few = { checkIns: 70, submitted: 60, refused: 0, missing: 0 };
    await using lab = await given(few, { ...few, missing: 19 });
    const { sentence, found } = await lab.funnel({ range });
    expect(sentence).toMatch(
      /^It is ingestion: reports are accepted and not stored\. −32 % against/,
    );
    expect(found).toBe(true);
  });

  it.each([
    [
      { ...usual, missing: 42 },
      true,
      /^It is ingestion: .* −4\.5 % against the week before\. .*stored 849 \(889 the week before\)\.$/,
    ],
    [
      { checkIns: 3500, submitted: 3400, refused: 0, missing: 30 },
      false,
      /^No step lost much more .*\. A loss would be named from \d+ % at check-in, \d+ % at submit, 1 % at accepted, 1 % at stored\. .* The greatest loss is small: stored −0\.9 %\.$/,
    ],
  ])(
    "finds 4 %% of the reports not stored, and says that less is small: %o",
    async (now, is, text) => {
      const { missing: _, ...most } = now;
      await using lab = await given(is ? usual : { ...most, missing: 0 }, now);
      const { sentence, found } = await lab.funnel({ range });
      expect(sentence).toMatch(text);
      expect(found).toBe(is);
    },
  );

  it("names no step where three reports less came, and says that too few come to tell", async () => {
    const few = { checkIns: 4, submitted: 3, refused: 0, missing: 0 };
    await using lab = await given(few, { ...few, submitted: 0 });
    const { sentence, found } = await lab.funnel({ range });
    expect(sentence).toMatch(
      /^Can't tell which step lost reports\. So few came that not even a loss of 95 % would show/,
    );
    expect(found).toBe(false);
  });

  it("compares two weeks with the two weeks before them", async () => {
    await using lab = await given(usual, usual);
    const weeks = between(new Date(DAY - WEEK), new Date(DAY + WEEK));
    expect((await lab.funnel({ range: weeks })).sentence).toMatch(
      /^Can't tell .* No step is known in both .*check-in 2,000 \(unknown 2 weeks before\), submit 1,800/,
    );
  });

  it("tells what it can of a deployment without such lines, or without logs", async () => {
    await using lab = await given(usual, { ...usual, submitted: 300, refused: 3 }, false);
    const found = await lab.funnel({ range });
    expect(found.sentence).toMatch(
      /^Fewer reports are stored, but which step lost them is unknown\. −67 % .* stored 295 \(889 the week before\).*Check-ins can't be counted: their table isn't there\. /,
    );
    await writeLogs(own.writer, [
      { identifier: "api", priority: 6, host: "a", message: "hello", micros: (DAY + 1000) * 1000 },
    ]);
    await using other = await own.open();
    const formless = await other.funnel({ range });
    expect(formless.sentence).toMatch(
      /Check-ins can't be counted: no line has their form, 8 May 2026/,
    );
    expect(formless.found).toBe(true);
    await expect(other.funnel({} as never)).rejects.toThrow(/Can't tell which step lost reports/);
  });
});
