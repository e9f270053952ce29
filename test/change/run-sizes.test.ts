import { beforeAll, describe, expect, test } from "vitest";
import { between, connect, count, explain, sum } from "../../src/index.js";
import { explainCells } from "../../src/change/cells/explain.js";
import { cellsOf, type Row } from "../support/change/cells.js";
import { seeded } from "../support/change/draws.js";
import { ownDatabase } from "../support/own-database.js";

const before = between("2026-05-01", "2026-05-08");
const after = between("2026-05-08", "2026-05-15");

/**
 * 4,000 runs a week of 30 measurements, but for 3.10.0 of app, which came with the second week and
 * ends its runs after 12; 2.1 of cli, which came then too, holds as many as 2.0 did.
 */
const runs = (short: string) => `
  SELECT toDateTime('2026-05-01', 'UTC') + run * 151 + at AS measurement_start_time,
    concat('r', toString(run)) AS report_id, ['app', 'cli'][1 + cityHash64(run, 1) % 2] AS software_name,
    run >= 4005 AND cityHash64(run, 2) % 10 < 8 AS moved,
    if(software_name = 'app', if(moved, '3.10.0', '3.9.1'), if(moved, '2.1', '2.0')) AS software_version,
    ['IT', 'DE', 'FR', 'US', 'IN'][1 + cityHash64(run, 3) % 5] AS probe_cc, cityHash64(run, 4) % 20 AS probe_asn,
    ['web', 'dns', 'speed'][1 + cityHash64(run, 5) % 3] AS test_name
  FROM (SELECT number AS run FROM numbers(8010)) ARRAY JOIN range(35) AS at
  WHERE at < 25 + cityHash64(run, 6) % 11 AND NOT (${short} AND at >= 12)`;
const create = (name: string, short: string) =>
  `CREATE TABLE ${name} ENGINE = MergeTree ORDER BY measurement_start_time AS SELECT * EXCEPT moved FROM (${runs(short)})`;

describe("a release whose runs hold fewer measurements", () => {
  const own = ownDatabase();
  beforeAll(() => own.writer.command(create("fastpath", "software_version = '3.10.0'")));

  test("is the cause, with what was to be expected, its runs and its part of the change", async () => {
    await using lab = await own.open();
    const asked = [
      explain(lab.measurements, { before, after }),
      explain(lab.runs, { before, after, measure: sum("measurements") }),
    ];
    for (const why of await Promise.all(asked)) {
      expect(why.causes.map(({ where }) => where)).toEqual([
        { software_name: "app", software_version: "3.10.0" },
      ]);
      expect(why.sentence).toMatch(
        /app 3\.10\.0 ends its runs early \(−60 %\)\. 12 measurements a run where 30 were to be expected, (all of the change|which is more than the change: other rows went the other way); its runs came as before \([+−][\d.]+ %\)\. Its median run lasts 11 s; that of all releases lasted \d+ s before\./,
      );
      // The move that loses isn't told as harmless; the other is told with what came of it.
      expect(why.sentence).not.toMatch(/upgraded:[^.]*app/);
      expect(why.sentence).toMatch(
        /upgraded: cli 2\.0 → 2\.1 \(all its measurements: [+−][\d.]+ %\)\./,
      );
      const sum = why.causes.reduce((all, { change }) => all + change, why.rest.change);
      expect(sum).toBeCloseTo(why.after! - why.before!, 6);
      // Its row holds what was expected, which the table says.
      expect(why.result.origin.notes[0]).toMatch(/^"Before" of a release whose runs changed is /);
    }
  });

  test("moves no runs", async () => {
    await using lab = await own.open();
    const why = await explain(lab.runs, { before, after, measure: count() });
    expect(why.found).toBe(false);
  });

  test("is unknown where the table has no report_id, and the program falls instead", async () => {
    await own.writer.command(
      "CREATE TABLE bare ENGINE = MergeTree ORDER BY measurement_start_time AS SELECT * EXCEPT report_id FROM fastpath",
    );
    await using lab = await connect({
      measurements: own.url,
      tables: { measurements: { table: "bare" } },
    });
    const why = await explain(lab.measurements, { before, after });
    expect(why.causes[0]!.where["software_name"]).toBe("app");
    expect(why.sentence).not.toContain("a run");
    expect(why.result.origin.notes.join(" ")).toContain("no report_id");
  });

  test("is a program alone by its bare name where versions weren't asked", async () => {
    await using lab = await own.open();
    const dimensions = ["software_name", "probe_cc"] as const;
    const why = await explain(lab.measurements, { before, after, dimensions });
    expect(why.causes[0]!.where).toEqual({ software_name: "app" });
    expect(why.headline).toMatch(/^app /);
  });
});

describe("a release whose runs hold fewer or more measurements", () => {
  const own = ownDatabase();
  const explained = async (name: string, rows: string) => {
    await own.writer.command(
      `CREATE TABLE ${name} ENGINE = MergeTree ORDER BY measurement_start_time AS SELECT * EXCEPT moved FROM (${rows})`,
    );
    await using lab = await connect({
      measurements: own.url,
      tables: { measurements: { table: name } },
    });
    return explain(lab.measurements, { before, after });
  };

  test("isn't said to end them early where they last as long: every second measurement is missing", async () => {
    const half = runs("software_version = '3.10.0'").replace("at >= 12", "at % 2 = 1");
    const { headline, sentence } = await explained("half", half);
    expect(headline).toMatch(/^app 3\.10\.0 holds fewer measurements a run \(−[45]\d %\)$/);
    expect(sentence).toMatch(
      /Its runs take as long as before \(median \d+ s, before \d+ s\): measurements within them are missing\./,
    );
    expect(sentence).not.toContain("early");
  });

  test("has duplicates where its rows repeat, and more measurements where they don't", async () => {
    const twice = `SELECT * FROM (${runs("0")}) ARRAY JOIN range(if(software_version = '3.10.0', 2, 1)) AS copy`;
    const { headline, sentence } = await explained("twice", twice.replace("*", "* EXCEPT copy"));
    expect(headline).toMatch(/^app 3\.10\.0 is stored more than once \(\+\d+ %\)$/);
    expect(sentence).toMatch(/(49|50) % of its rows are duplicates \(0 % before\)\./);
    const longer = runs("0").replace(
      "WHERE at <",
      "WHERE at < if(software_version = '3.10.0', 35, 0) +",
    );
    const more = await explained("more", longer.replace("range(35)", "range(70)"));
    expect(more.headline).toMatch(/^app 3\.10\.0 holds more measurements a run \(/);
    expect(more.sentence).not.toContain("duplicates");
  });
});

describe("a release whose runs are shorter in one country", () => {
  const own = ownDatabase();
  beforeAll(() =>
    own.writer.command(create("fastpath", "software_version = '3.10.0' AND probe_cc = 'IT'")),
  );

  test("is named with the country", async () => {
    await using lab = await own.open();
    const why = await explain(lab.measurements, { before, after });
    expect(why.causes[0]!.where).toEqual({
      software_name: "app",
      software_version: "3.10.0",
      probe_cc: "IT",
    });
    expect(why.sentence).toContain("app 3.10.0 in probe_cc IT ends its runs early (−");
  });
});

describe("a country without a row in the earlier range", () => {
  const own = ownDatabase();
  /** A third of the second week's rows are Brazil's, and as many of a day, where one is named, weeks ago. */
  const said = async (name: string, day: string | undefined) => {
    const rows = (start: string, country: string, part: number) =>
      `SELECT toDateTime('${start}', 'UTC') + number * 20 AS measurement_start_time, concat('${start}', toString(number)) AS report_id,
         if(cityHash64(number, 7) % 3 < ${part}, '${country}', ['IT', 'DE', 'FR'][1 + number % 3]) AS probe_cc,
         cityHash64(number, 4) % 20 AS probe_asn, ['web', 'dns'][1 + number % 2] AS test_name FROM numbers(30240)`;
    const earlier = day === undefined ? [] : [rows(day, "BR", 3)];
    const all = [...earlier, rows("2026-05-01", "BR", 0), rows("2026-05-08", "BR", 1)];
    await own.writer.command(
      `CREATE TABLE ${name} ENGINE = MergeTree ORDER BY measurement_start_time AS ${all.join(" UNION ALL ")}`,
    );
    await using lab = await connect({
      measurements: own.url,
      tables: { measurements: { table: name } },
    });
    return (await explain(lab.measurements, { before, after })).sentence;
  };

  test("isn't new where it had rows before that range", async () => {
    const [back, fresh] = await Promise.all([said("back", "2026-04-20"), said("fresh", undefined)]);
    expect(back).toMatch(/probe_cc BR appeared, with [\d,]+ measurements/);
    expect(back).toContain(
      "probe_cc BR isn't new: 30,240 came in 3–30 Apr 2026, before the earlier range.",
    );
    expect(fresh).toMatch(/probe_cc BR appeared, with [\d,]+ measurements/);
    expect(fresh).not.toContain("isn't new");
  });
});

test("a release whose runs end early is told as one where runs of most tests hold one measurement", () => {
  const LENGTHS = { web: 30, dns: 26, tor: 1.03, signal: 1.02, telegram: 1.05, whatsapp: 1.01 };
  for (let seed = 0; seed < 20; seed += 1) {
    const draw = seeded(seed);
    const rows = ["app 1.0", "app 2.0", "cli 5.1"].flatMap((release) =>
      ["IT", "DE", "US", "IN"].flatMap((country) =>
        Object.entries(LENGTHS).map(([name, length]): Row => {
          const many = [draw.count(300), draw.count(300)] as const;
          const now = release === "app 2.0" ? Math.max(1, 0.3 * length) : length;
          const values = [...release.split(" "), country, name];
          return {
            values,
            before: many[0] * length,
            after: many[1] + draw.count(many[1] * (now - 1)),
            runs: many,
          };
        }),
      ),
    );
    const names = ["software_name", "software_version", "probe_cc", "test_name"];
    const { causes } = explainCells(cellsOf(names, rows));
    expect(causes.map(({ where }) => where)).toEqual([
      { software_name: "app", software_version: "2.0" },
    ]);
  }
});
