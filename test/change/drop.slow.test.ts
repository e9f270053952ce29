import { beforeAll, describe, expect, test } from "vitest";
import { between, connect, explain } from "../../src/index.js";
import { embeddedDatabase } from "../support/embedded-database.js";

const own = embeddedDatabase();
const HOUR = 3_600_000;
/** A Thursday ten weeks after the first row. */
const BEGIN = Date.parse("2026-05-14T10:00:00Z");
/** Where a drop ends, it does after nine hours. */
const LENGTHS = { on: 24 * 30, back: 9 };
const LOSSES = {
  "half of one program": "program = 'probe-android' AND cityHash64(n, 1) % 2 = 0",
  "one program whole": "program = 'probe-cli'",
  "30 % of everything": "cityHash64(n, 2) % 10 < 3",
  "one country whole": "cc = 'IT'",
};
const LOSS_NAMES = Object.keys(LOSSES) as (keyof typeof LOSSES)[];
/** A row of how many is there: about 450 and 45 rows an hour. */
const SIZES = { large: 1, small: 10 };

beforeAll(async () => {
  // Other names and types than the seed document's, a day and a week in the rate, three programs of
  // different size, five countries, scattered as counts are.
  await own.writer.command(
    `CREATE TABLE base ENGINE = MergeTree ORDER BY at AS SELECT
       toDateTime64('2026-03-05 10:00:00', 3, 'UTC') + number * 4 AS at, number AS n, toString(intDiv(number, 30)) AS report,
       multiIf(cityHash64(number, 3) % 10 < 5, 'probe-android', cityHash64(number, 3) % 10 < 8, 'probe-ios', 'probe-cli') AS program,
       '1.0' AS version, ['IT', 'FR', 'US', 'BR', 'IN'][1 + cityHash64(number, 4) % 5] AS cc, 'web_connectivity' AS test_name
     FROM numbers(intDiv(80 * 86400, 4))
     WHERE cityHash64(number, 5) % 1000 < 500 + 250 * sin(2 * pi() * (number * 4 % 86400) / 86400) + if(toDayOfWeek(at) > 5, -100, 0)`,
  );
  const from = "toDateTime('2026-05-14 10:00:00', 'UTC')";
  for (const [size, part] of Object.entries(SIZES)) {
    for (const [at, loss] of Object.values(LOSSES).entries()) {
      for (const [end, hours] of Object.entries(LENGTHS)) {
        await own.writer.command(
          `CREATE TABLE ${size}_${at}_${end} ENGINE = MergeTree ORDER BY at AS SELECT * FROM base
           WHERE cityHash64(n, 9) % ${part} = 0 AND NOT ((${loss}) AND at >= ${from} AND at < ${from} + INTERVAL ${hours} HOUR)`,
        );
      }
    }
  }
  // A run every ten seconds of the day's rate, of ten measurements; a release that comes with the loss.
  await own.writer.command(
    `CREATE TABLE runs ENGINE = MergeTree ORDER BY at AS SELECT
       toDateTime64('2026-03-12 10:00:00', 3, 'UTC') + number AS at, number AS n, intDiv(number, 10) AS run, toString(run) AS report,
       multiIf(cityHash64(run, 3) % 10 < 5, 'probe-android', cityHash64(run, 3) % 10 < 8, 'probe-ios', 'probe-cli') AS program,
       if(program = 'probe-android' AND run >= 63 * 8640, '1.1', '1.0') AS version,
       ['IT', 'FR', 'US', 'BR', 'IN'][1 + cityHash64(run, 4) % 5] AS cc, 'web_connectivity' AS test_name
     FROM numbers(73 * 86400)
     WHERE cityHash64(run, 5) % 1000 < 500 + 250 * sin(2 * pi() * (run * 10 % 86400) / 86400)`,
  );
  for (const [at, loss] of Object.values(LOSSES).entries()) {
    await own.writer.command(
      `CREATE TABLE runs_${at} ENGINE = MergeTree ORDER BY at AS SELECT * FROM runs WHERE NOT ((${loss}) AND at >= ${from})`,
    );
  }
  // Five programs that log every five minutes, and have been silent for 57.
  await own.writer.command(
    `CREATE TABLE lines ENGINE = MergeTree ORDER BY at AS SELECT toInt64(toUnixTimestamp('2026-05-24 10:00:00', 'UTC')) - 57 * 60 - toInt64(number) * 60 AS at,
       ['api', 'fastpath', 'geoip', 'rotation', 'monitor'][1 + number % 5] AS said_by, 'ok' AS text FROM numbers(20000)`,
  );
}, 120_000);

async function labOf(table: string) {
  const measurements = {
    table,
    time: "at",
    software_name: "program",
    software_version: "version",
    report_id: "report",
    probe_cc: "cc",
  };
  const logs = { table: "lines", time: "at", identifier: "said_by", message: "text" };
  const source = `embedded:${own.directory.path}`;
  return connect({ measurements: source, logs: source, tables: { measurements, logs } });
}

async function drop(table: string, end: number) {
  await using lab = await labOf(table);
  return lab.anomalies({ range: between(new Date(end - 7 * 24 * HOUR), new Date(end)) });
}

const after = (size: keyof typeof SIZES, loss: string, end: keyof typeof LENGTHS, hours: number) =>
  drop(`${size}_${LOSS_NAMES.indexOf(loss as never)}_${end}`, BEGIN + hours * HOUR);

describe("lab.anomalies knows a drop that goes on from one that is over", () => {
  const goesOn = LOSS_NAMES.flatMap((loss) =>
    [14, 26, 60, 230].map((hours) => [loss, hours] as const),
  );
  test.each(goesOn)("%s, lost since %i hours, is never over", async (loss, hours) => {
    const large = await after("large", loss, "on", hours);
    expect(large).toMatchObject({ state: "dropping", found: true });
    expect(large.sentence.startsWith(large.headline)).toBe(true);
    expect(large.sentence.match(/ is over|the drop goes on/gi)?.length ?? 0).toBeLessThan(2);
    expect(large.headline.split(" ").length).toBeLessThanOrEqual(25);
    const small = await after("small", loss, "on", hours);
    expect(small.state, small.sentence).not.toBe("recovered");
    // What is not seen is said with what would have been.
    if (small.state === "usual") {
      expect(small.sentence).toMatch(/slow fall over weeks .* isn't looked for/);
      expect(small.sentence).toMatch(/would have shown/);
    }
  });

  test.each(LOSS_NAMES)(
    "%s: drop, explain, funnel and release, asked at once, agree",
    async (loss) => {
      await using lab = await labOf(`runs_${LOSS_NAMES.indexOf(loss)}`);
      const end = BEGIN + 26 * HOUR;
      const day = between(new Date(end - 24 * HOUR), new Date(end));
      const before = between(
        new Date(+day.start - 7 * 24 * HOUR),
        new Date(+day.end - 7 * 24 * HOUR),
      );
      const week = between(new Date(end - 7 * 24 * HOUR), new Date(end));
      const month = between(new Date(end - 28 * 24 * HOUR), new Date(end));
      const [dropped, why, funnel, release] = await Promise.all([
        lab.anomalies({ range: week }),
        explain(lab.measurements, { before, after: day }),
        lab.funnel({ range: day }),
        lab.release("1.1", { range: month, software: "probe-android" }),
      ]);
      expect(dropped.found).toBe(true);
      // What accounts for the alarm is named, or the sentence says why that is unknown.
      for (const { found, sentence } of [dropped.why!, why]) {
        expect(found || sentence.includes("can't tell"), sentence).toBe(true);
      }
      // The version that came with the loss is told to hold fewer where its own runs do, and only there.
      expect(release.found, release.sentence).toBe(/half|30 %/.test(loss));
      if (release.found) expect(release.sentence).toMatch(/median measurements per run fell/i);
      else expect(release.sentence).not.toMatch(/fell/);
      // Here rows are lost out of reports, not reports: no step lost one that can be told.
      expect(funnel.sentence).not.toMatch(/^No step lost/);
    },
  );

  test.each(LOSS_NAMES)("%s is over within three hours of its end", async (loss) => {
    const found = await after("large", loss, "back", LENGTHS.back + 3);
    expect(found).toMatchObject({ state: "recovered", found: true });
    expect(found.headline).toMatch(/^The drop noticed .* is over$/);
    expect(found.sentence).toMatch(/measurements.* % in the last .* is usual/i);
  });

  test("the end of a drop of the countries that have no line of their own is told", async () => {
    // Twenty countries, the later the smaller: the last five are one group.
    await own.writer.command(
      `CREATE TABLE many ENGINE = MergeTree ORDER BY at AS SELECT * REPLACE(
         ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M', 'N', 'O', 'P', 'Q', 'R', 'S', 'T'][1 + toUInt8(pow(cityHash64(n, 6) % 1000 / 1000, 3) * 20)] AS cc)
       FROM base WHERE NOT (cc > 'O' AND at >= toDateTime('2026-05-14 10:00:00', 'UTC') AND at < toDateTime('2026-05-14 19:00:00', 'UTC'))`,
    );
    const on = await drop("many", BEGIN + 4 * HOUR);
    expect(on.state, on.sentence).toBe("dropping");
    const over = await drop("many", BEGIN + 24 * HOUR);
    expect(over.state, over.sentence).toBe("recovered");
    expect(over.sentence).not.toMatch(/too little is known/);
  });

  test("half of a program that the whole hides is seen in the program", async () => {
    const found = await after("small", "half of one program", "on", 4);
    expect(found.state).toBe("dropping");
    expect(found.sentence).toMatch(/probe-android/);
  });
});

test("lab.anomalies calls the silence of all log programs an alarm", async () => {
  const found = await drop("base", BEGIN + 10 * 24 * HOUR);
  expect(found).toMatchObject({ state: "silent", found: true });
  expect(found.headline).toBe("No log line comes any more");
  expect(found.sentence).toMatch(/5 programs silent for 57 minutes, at most 5 minutes before\./i);
});
