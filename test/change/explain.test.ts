import { describe, expect, test } from "vitest";
import {
  between,
  changePoints,
  count,
  countDistinct,
  explain,
  mean,
  ratio,
  share,
  sum,
} from "../../src/index.js";
import { explainCells } from "../../src/change/cells/explain.js";
import { seeded } from "../support/change/draws.js";
import { cellsOf as serviceCells, serviceOf } from "../support/change/users.js";
import { ownDatabase } from "../support/own-database.js";
import { cellsOf, service, type Row } from "../support/change/cells.js";

const NAMES = ["cc", "network", "test"];
const SIZES = [8, 12, 5];

describe("a count", () => {
  test("finds a planted value, pair and triple, each exactly", () => {
    const planted: Record<string, string>[] = [
      { cc: "cc3" },
      { cc: "cc2", test: "test4" },
      { cc: "cc1", network: "network5", test: "test2" },
    ];
    for (const where of planted) {
      for (let seed = 0; seed < 5; seed += 1) {
        const rows = service(
          seed,
          NAMES,
          SIZES,
          (values) =>
            NAMES.every((name, at) => (where[name] ?? values[at]) === values[at]) ? 0.05 : 1,
          4_000,
        );
        const { causes, found } = explainCells(cellsOf(NAMES, rows));
        expect(found).toBe(true);
        expect(causes.map((cause) => cause.where)).toEqual([where]);
      }
    }
  });

  test.each([[[3]], [[4]], [[4, 2]], [[2, 5, 3]], [[25]]])(
    "finds one value of few cells (%j) that fell, and nothing where nothing did",
    (sizes) => {
      const names = NAMES.slice(0, sizes.length);
      let [hit, quiet] = [0, 0];
      for (let seed = 0; seed < 40; seed += 1) {
        const fell = service(seed, names, sizes, ([cc]) => (cc === "cc1" ? 0.4 : 1), 20_000);
        const { causes } = explainCells(cellsOf(names, fell));
        hit += Number(causes.length === 1 && causes[0]!.where["cc"] === "cc1");
        const still = service(500 + seed, names, sizes, () => 1, 20_000);
        quiet += Number(!explainCells(cellsOf(names, still)).found);
      }
      // Where the value holds most rows, that all fell is said as well.
      expect(hit).toBeGreaterThanOrEqual(30);
      expect(quiet).toBeGreaterThanOrEqual(38);
    },
  );

  test("finds two independent causes, one up and one down", () => {
    const rows = service(4, NAMES, SIZES, ([cc, network]) =>
      cc === "cc5" ? 0.4 : network === "network7" ? 2 : 1,
    );
    const { causes } = explainCells(cellsOf(NAMES, rows));
    expect(causes.map(({ text }) => text).sort()).toEqual([
      "cc cc5",
      "the rest of network network7",
    ]);
  });

  test("doesn't depend on the order and the names of values", () => {
    const rows = service(3, NAMES, SIZES, ([cc]) => (cc === "cc4" ? 0.5 : 1));
    const draw = seeded(9);
    const shuffled = rows
      .map((row) => ({ row, key: draw.uniform() }))
      .sort((a, b) => a.key - b.key)
      .map(({ row }): Row => ({ ...row, values: row.values.map((value) => `other ${value}`) }));
    const [first] = explainCells(cellsOf(NAMES, rows)).causes;
    const [other] = explainCells(cellsOf(NAMES, shuffled)).causes;
    expect(first!.where).toEqual({ cc: "cc4" });
    expect(other!.where).toEqual({ cc: "other cc4" });
    expect(other!.change).toBe(first!.change);
  });

  test("says of a change of everything that all rows did alike", () => {
    const rows = service(5, NAMES, SIZES, () => 0.5);
    const { causes, sentence } = explainCells(cellsOf(NAMES, rows));
    expect(causes.map(({ where }) => where)).toEqual([{}]);
    expect(sentence).toContain("All rows alike fell");
  });

  test("of few rows says what would have been seen, and names nothing", () => {
    const rows = service(3, NAMES, [2, 3, 2], ([cc]) => (cc === "cc1" ? 0.9 : 1), 400);
    const { found, sentence } = explainCells(cellsOf(NAMES, rows));
    expect(found).toBe(false);
    expect(sentence).toMatch(
      /All rows together would have had to lose \d+ % of their measurements to be seen\./,
    );
  });

  test("of rows that are too few can't tell, and denies nothing", () => {
    const few = serviceOf(seeded(5), { rows: 30_000 });
    for (const cells of [
      serviceCells(few.runs, false),
      cellsOf(
        ["cc"],
        [{ values: ["a"], before: 12, after: 13, partBefore: 1, partAfter: 2 }],
        "rate",
      ),
    ]) {
      const { found, undecided, sentence } = explainCells(cells);
      expect(found).toBe(false);
      expect(undecided).toBe(true);
      expect(sentence).toMatch(/^I can't tell .*These rows are too few/);
      expect(sentence).not.toMatch(/Nothing stands out|No part of it moved|1\d\d % of all/);
    }
  });

  test("where all is gone, or nothing was there, says so, and of few rows that it may be chance", () => {
    const rows = service(3, NAMES, [3, 4, 2], () => 1, 85);
    const before = rows.reduce((sum, row) => sum + row.before, 0);
    const gone = explainCells(
      cellsOf(
        NAMES,
        rows.map((row) => ({ ...row, after: 0 })),
      ),
    );
    expect(gone).toMatchObject({ found: true, undecided: false, before, after: 0 });
    expect(gone.headline).toBe(
      `All measurements are gone: ${before.toLocaleString("en-US")} before, none now`,
    );
    const came = explainCells(
      cellsOf(
        NAMES,
        rows.map((row) => ({ ...row, before: 0 })),
      ),
    );
    expect(came.headline).toMatch(/^[\d,]+ measurements came where none did before$/);
    const few = service(3, NAMES, [2, 2, 1], () => 1, 5).map((row) => ({ ...row, after: 0 }));
    const doubted = explainCells(cellsOf(NAMES, few));
    expect(doubted).toMatchObject({ found: false, undecided: true });
    expect(doubted.sentence).toMatch(
      /^Possibly all measurements are gone: .*These rows are too few: that can be chance/,
    );
  });

  test.each([
    ["no rows at all", 0, 0, "neither range holds"],
    ["none before", 0, 50, "before"],
    ["none after", 50, 0, "after"],
  ])("answers with %s", (_, before, after) => {
    const rows = [{ values: ["a"], before, after }];
    const answer = explainCells(cellsOf(["cc"], rows));
    expect(answer.sentence).toMatch(/Measurements /);
    expect(answer.rest.change + answer.causes.reduce((all, one) => all + one.change, 0)).toBe(
      after - before,
    );
  });

  test("takes a cube without any cell, and null and empty values for what they are", () => {
    expect(explainCells(cellsOf(["cc"], [])).found).toBe(false);
    const rows = service(6, NAMES, SIZES, ([cc]) => (cc === "cc1" ? 0.3 : 1)).map((row): Row => ({
      ...row,
      values: row.values.map((one) => (one === "cc1" ? null : one === "cc2" ? "" : one)),
    }));
    const [first] = explainCells(cellsOf(NAMES, rows)).causes;
    expect(first!.where).toEqual({ cc: null });
    expect(first!.text).toBe("cc (none)");
  });
});

describe("a share", () => {
  const shares = (seed: number, rate: (values: readonly string[]) => number, weight = 1): Row[] => {
    const draw = seeded(seed + 77);
    return service(seed, NAMES, SIZES).map((row) => {
      const after = Math.round(row.after * (row.values[0] === "cc1" ? weight : 1));
      return {
        ...row,
        after,
        partBefore: Math.min(row.before, draw.count(row.before * 0.05)),
        partAfter: Math.min(after, draw.count(after * rate(row.values as string[]))),
      };
    });
  };

  test("finds a planted element; mix and rate add up to the change to rounding", () => {
    const rows = shares(1, ([cc, , kind]) => (cc === "cc2" && kind === "test3" ? 0.4 : 0.05));
    const { causes, rest, before, after } = explainCells(cellsOf(NAMES, rows, "rate"));
    expect(causes[0]!.where).toEqual({ cc: "cc2", test: "test3" });
    const sum = causes.reduce((all, { change }) => all + change, rest.change);
    expect(sum).toBeCloseTo(after! - before!, 12);
    for (const one of [...causes, rest]) expect(one.mix! + one.rate!).toBeCloseTo(one.change, 12);
  });

  test("is quiet in 95 of 100 seeds with nothing planted", () => {
    let quiet = 0;
    for (let seed = 0; seed < 100; seed += 1) {
      quiet += Number(
        !explainCells(
          cellsOf(
            NAMES,
            shares(seed, () => 0.05),
            "rate",
          ),
        ).found,
      );
    }
    expect(quiet).toBeGreaterThanOrEqual(95);
  });

  test("of one of two programs is the program's, though most leaves are its own", () => {
    const draw = seeded(8);
    const names = ["software_name", "cc", "network"];
    for (let seed = 0; seed < 6; seed += 1) {
      const rows = service(seed, names, [2, 8, 6]).map((row): Row => {
        const first = row.values[0] === "software_name1";
        const part = (n: number, rate: number) => Math.min(n, draw.count(n * rate));
        return {
          ...row,
          partBefore: part(row.before, 0.029),
          partAfter: part(row.after, first ? 0.397 : 0.029),
        };
      });
      const [cause] = explainCells(cellsOf(names, rows, "rate")).causes;
      expect(cause!.where).toEqual({ software_name: "software_name1" });
    }
  });

  test("only may be what users give once in ten questions, and what they hide is found more often", () => {
    /** What is told of 20 services whose users all fail or don't, as often in cc1 as is said. */
    const told = (rate: number) =>
      Array.from({ length: 20 }, (_, seed) => {
        const draw = seeded(seed + 400);
        // Three users a cell and week, of forty rows each: all of them fail, or none.
        const failed = (rate: number) =>
          Array.from({ length: 3 }).filter(() => draw.uniform() < rate).length * 40;
        const rows = service(seed, NAMES.slice(0, 2), SIZES.slice(0, 2)).map((row): Row => {
          const partAfter = failed(row.values[0] === "cc1" ? rate : 0.08);
          return { ...row, before: 120, after: 120, partBefore: failed(0.08), partAfter };
        });
        return explainCells(cellsOf(NAMES.slice(0, 2), rows, "rate"));
      });
    const quiet = told(0.08);
    expect(quiet.filter(({ causes }) => causes.length > 0).length).toBeLessThanOrEqual(4);
    expect(quiet.filter(({ found }) => found).length).toBeLessThanOrEqual(1);
    const open = quiet.filter(({ found }) => !found).map(({ sentence }) => sentence);
    for (const sentence of open) {
      expect(sentence).toMatch(/A part of [\d.]+ % of the rows would have had to move by /);
    }
    const right = told(0.5).filter(
      ({ causes, sentence }) =>
        causes[0]?.where["cc"] === "cc1" || sentence.includes("whether all did, or cc cc1 alone"),
    );
    expect(right.length).toBeGreaterThanOrEqual(16);
  });

  test("of a release that is new says what its users had before, and that none of it was there", () => {
    const names = ["software_name", "software_version", "probe_cc"];
    const rows = Array.from({ length: 12 }, (_, at) => at).flatMap((at): Row[] => [
      {
        values: ["a", "1.0", `C${at}`],
        before: 3_000,
        partBefore: 90,
        after: 1_500,
        partAfter: 45,
      },
      { values: ["a", "1.1", `C${at}`], before: 0, after: 1_500, partBefore: 0, partAfter: 600 },
      { values: ["b", "1.1", `C${at}`], before: 900, partBefore: 27, after: 900, partAfter: 27 },
    ]);
    const { sentence, causes } = explainCells(cellsOf(names, rows, "rate"));
    expect(causes.map(({ where }) => where)).toEqual([
      { software_name: "a", software_version: "1.1" },
    ]);
    expect(sentence).toMatch(
      /a 1\.1 went from 3\.0 % to 40 %\. It has 40 %; what its users had before had 3\.0 %, .* of the change\. 38 % of all measurements are of it \(none before\)\./i,
    );
  });

  test("is told by the mix of programs where a program of many failures has more rows, and no version is named", () => {
    const names = ["software_name", "software_version", "probe_cc"];
    const rows = ["a", "b"].flatMap((program) =>
      Array.from({ length: 10 }, (_, at): Row => {
        const [before, after, rate] = program === "a" ? [9_000, 7_000, 0.03] : [1_000, 3_000, 0.3];
        const part = { partBefore: before * rate, partAfter: after * rate };
        return { values: [program, "1.0", `C${at}`], before, after, ...part };
      }),
    );
    const { sentence, causes } = explainCells(cellsOf(names, rows, "rate"));
    expect(sentence).toMatch(
      /software_name b has 30 % of the measurements now and had 10 %, with 30 % of its own, as before\. That mix of software_name makes up 100 % of the change/,
    );
    expect(causes.map(({ where }) => where)).toEqual([{ software_name: "b" }]);
  });

  test("of no rows says so", () => {
    const { sentence, found } = explainCells(cellsOf(["software_name"], [], "rate"));
    expect(found).toBe(false);
    expect(sentence).toContain("because neither range holds such rows");
  });

  test("names a mix once, though within its values all fell (Simpson's paradox)", () => {
    const rows = ["easy", "hard"].flatMap((kind) =>
      Array.from({ length: 20 }, (_, at): Row => {
        const hard = kind === "hard";
        const [before, was, after, is] = hard ? [500, 0.5, 4_500, 0.4] : [4_500, 0.1, 500, 0.05];
        const part = { partBefore: before * was, partAfter: after * is };
        return { values: [kind, `C${at}`], before, after, ...part };
      }),
    );
    const { sentence, causes } = explainCells(cellsOf(["kind", "cc"], rows, "rate"));
    expect(sentence).toMatch(/hard has 90 % .*Simpson's paradox\)\./);
    expect(causes).toMatchObject([{ where: { kind: "hard" }, before: 0.5, after: 0.4 }]);
    expect(causes[0]!.mix).toBeGreaterThan(0);
  });

  test("names the country whose networks have more rows, and a network that grew alone", () => {
    const first = (grown: (network: number) => number) => {
      const rows = Array.from({ length: 40 }, (_, at): Row => {
        const [rate, after] = at < 4 ? [at === 0 ? 0.33 : 0.3, 500 * grown(at)] : [0.03, 500];
        const part = { partBefore: 500 * rate, partAfter: after * rate };
        const values = [`AS${at}`, `C${Math.floor(at / 4)}`];
        return { values, before: 500, after, ...part };
      });
      return explainCells(cellsOf(["probe_asn", "probe_cc"], rows, "rate")).causes[0]!.where;
    };
    expect(first((network) => (network === 0 ? 7 : 6))).toEqual({ probe_cc: "C0" });
    expect(first((network) => (network === 0 ? 20 : 1))).toEqual({ probe_asn: "AS0" });
  });

  test("says that all rows rose alike where each program's failures rose by half", () => {
    const rows = Array.from({ length: 80 }, (_, at): Row => {
      const rate = [0.16, 0.06, 0.04, 0.02][at % 4]!;
      const part = { partBefore: 5_000 * rate, partAfter: 7_500 * rate };
      return { values: [`app${at % 4}`, `C${at >> 2}`], before: 5_000, after: 5_000, ...part };
    });
    const { sentence, causes } = explainCells(cellsOf(["software_name", "cc"], rows, "rate"));
    expect(causes.map(({ where }) => where)).toEqual([{}]);
    expect(sentence).toContain("All rows alike went from 7.0 % to 11 %");
  });
});

describe("on the engine", () => {
  const own = ownDatabase();
  const after = between("2026-05-08", "2026-05-15");
  const before = between("2026-05-01", "2026-05-08");

  test("reads LowCardinality, Enum, Nullable and numbers, as a reader with few rights", async () => {
    await own.writer.command(`CREATE TABLE fastpath (
      measurement_start_time DateTime('UTC'), report_id String, probe_cc LowCardinality(Nullable(String)),
      probe_asn Nullable(UInt32), test_name Enum8('web' = 1, 'dns' = 2), software_name String,
      test_runtime Float32, anomaly LowCardinality(String)
    ) ENGINE = MergeTree ORDER BY measurement_start_time`);
    await own.writer.command(`INSERT INTO fastpath
      SELECT toDateTime('2026-05-01', 'UTC') + number * 10 AS t, toString(number),
        [NULL, 'IT', 'DE', ''][1 + cityHash64(number, 1) % 4] AS cc,
        if(cityHash64(number, 2) % 5 = 0, NULL, cityHash64(number, 2) % 5) AS asn,
        if(cityHash64(number, 3) % 2 = 0, 'web', 'dns'), 'app',
        if(cc = 'DE' AND t >= toDateTime('2026-05-08', 'UTC'), 20, 10) + cityHash64(number, 4) % 3,
        if(cc = 'DE' AND t >= toDateTime('2026-05-08', 'UTC') OR cityHash64(number, 5) % 20 = 0, 't', 'f')
      FROM numbers(120960) WHERE NOT (isNull(cc) AND t >= toDateTime('2026-05-08', 'UTC') AND cityHash64(number, 6) % 3 > 0)`);
    await using lab = await own.open();
    const counts = await explain(lab.measurements, { before, after });
    expect(counts.causes.map(({ where }) => where)).toEqual([{ probe_cc: null }]);
    expect(counts.result.origin.notes.join(" ")).toContain("software_version");
    const [total] = await own.writer.rows<{ was: number; is: number }>(
      "SELECT countIf(measurement_start_time < '2026-05-08') AS was, count() - was AS is FROM fastpath",
    );
    expect([counts.before, counts.after]).toEqual([Number(total!.was), Number(total!.is)]);
    const anomalies = await explain(lab.measurements, {
      before,
      after,
      measure: share({ anomaly: "t" }),
      dimensions: ["probe_cc", "probe_asn", "test_name"],
    });
    expect(anomalies.causes[0]!.where).toEqual({ probe_cc: "DE" });
    const runtime = await explain(lab.measurements, {
      before,
      after,
      measure: mean("test_runtime"),
      dimensions: ["test_name", "probe_cc"],
    });
    expect(runtime.causes[0]!.where).toEqual({ probe_cc: "DE" });
    const perRow = await explain(lab.measurements, {
      before,
      after,
      measure: ratio(sum("test_runtime"), count()),
      dimensions: ["test_name", "probe_cc"],
    });
    expect(perRow.causes[0]!.where).toEqual({ probe_cc: "DE" });
    expect(perRow.after! - perRow.before!).toBeGreaterThan(1);
    await expect(
      explain(lab.measurements, {
        before,
        after,
        measure: ratio(countDistinct("probe_asn"), count()),
      }),
    ).rejects.toThrow(
      /Can't explain a change of a ratio of countDistinct and count: .* Take a ratio of counts and sums, such as/,
    );
    const where = { software_name: "ap" };
    const misspelt = await explain(lab.measurements, { before, after, where });
    expect(misspelt.headline).toBe("I can't tell what changed");
    expect(misspelt.evidence).toMatch(/ has software_name ap; the range holds "app"\.$/);
    const none = await lab.measurements.counts({ range: after, every: "day", where });
    expect((await changePoints(none)).evidence).toBe(misspelt.evidence);
    const only = await explain(lab.measurements, {
      before,
      after,
      measure: count(),
      dimensions: ["test_name"],
      where: { probe_cc: "IT" },
    });
    expect(only.found).toBe(false);
    const refused = explain(lab.measurements, { before, after, dimensions: ["nothing_such"] });
    await expect(refused).rejects.toThrow(/nothing_such/);
  });
});
