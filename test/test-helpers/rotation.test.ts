import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWriter } from "../../src/database/writer.js";
import type { Writer } from "../../src/database/writer.js";
import { chart, connect, table, testHelpers, type Lab } from "../../src/index.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";

let directory: TemporaryDirectory;
let writer: Writer;

beforeAll(async () => {
  directory = await temporaryDirectory();
  writer = await openWriter(directory.source);
  // What "now" is to the lab: the end of the day of the newest measurement.
  await writer.command(
    "CREATE TABLE fastpath ENGINE = MergeTree ORDER BY measurement_start_time AS SELECT toDateTime('2026-05-07 13:00:00', 'UTC') AS measurement_start_time",
  );
});
afterAll(async () => {
  await writer[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const FIVE =
  "rdn String, dns_zone String, name String, region String, draining_at Nullable(DateTime('UTC'))";

/** Makes the table anew of `columns` and rows of SQL values, and asks it. */
async function given<T>(
  values: readonly string[],
  ask: (lab: Lab) => Promise<T>,
  columns = FIVE,
  engine = "MergeTree ORDER BY name",
): Promise<T> {
  await writer.command(
    `CREATE OR REPLACE TABLE test_helper_instances (${columns}) ENGINE = ${engine}`,
  );
  await writer.command("SYSTEM STOP MERGES test_helper_instances");
  // One INSERT a row: parts that no merge has collapsed.
  for (const value of values) {
    await writer.command(`INSERT INTO test_helper_instances VALUES (${value})`);
  }
  await using lab = await connect({ measurements: `embedded:${directory.path}` });
  return await ask(lab);
}

const live = (rdn: number, made: string) => `'${rdn}', 'th.example', 'th-${made}', 'fra1', NULL`;
const drained = (rdn: number, made: string, at: string) =>
  `'${rdn}', 'th.example', 'th-${made}', 'fra1', '${at}'`;

describe("list()", () => {
  it("gives the five fields, name descending, 8 rows, and says that there are more", async () => {
    const rows = Array.from({ length: 11 }, (_, i) => live(i, `202605010000${String(i + 10)}`));
    const result = await given(rows, (lab) => lab.testHelpers.list());
    expect(result.columnNames()).toEqual(["rdn", "dns_zone", "name", "region", "draining_at"]);
    expect(result.column("name")).toEqual(
      Array.from({ length: 8 }, (_, i) => `th-202605010000${20 - i}`),
    );
    expect(result.origin.reductions).toEqual(["The 8 greatest names of 11 test helpers."]);
    expect(table(result).markdown).toContain("th-20260501000020");
  });

  it("does not count cancelled rows of a CollapsingMergeTree", async () => {
    const [first, second] = [live(0, "20260501000000"), live(1, "20260502000000")];
    const result = await given(
      [
        `${first}, 1`,
        `${second}, 1`,
        `${first}, -1`,
        `${drained(0, "20260501000000", "2026-05-06 10:00:00")}, 1`,
        `${live(2, "20260503000000")}, 1`,
        `${live(2, "20260503000000")}, -1`,
      ],
      (lab) => lab.testHelpers.list(),
      `${FIVE}, sign Int8`,
      "CollapsingMergeTree(sign) ORDER BY name",
    );
    expect(result.rows().map((row) => [row["name"], row["draining_at"]])).toEqual([
      ["th-20260502000000", null],
      ["th-20260501000000", new Date("2026-05-06T10:00:00Z")],
    ]);
  });

  it("balances signs where the engine can't: a view over such a table", async () => {
    const result = await given(
      [
        `${live(0, "20260501000000")}, 1`,
        `${live(1, "20260502000000")}, 1`,
        `${live(1, "20260502000000")}, -1`,
      ],
      async (lab) => {
        await writer.command("RENAME TABLE test_helper_instances TO behind");
        await writer.command("CREATE VIEW test_helper_instances AS SELECT * FROM behind");
        try {
          return await lab.testHelpers.list();
        } finally {
          await writer.command("DROP TABLE test_helper_instances SYNC");
          await writer.command("DROP TABLE behind SYNC");
        }
      },
      `${FIVE}, sign Int8`,
      "CollapsingMergeTree(sign) ORDER BY name",
    );
    expect(result.column("name")).toEqual(["th-20260501000000"]);
  });

  it.each([
    ["DateTime('UTC')", "0", "'2026-05-06 10:00:00'"],
    ["Nullable(DateTime64(6, 'UTC'))", "NULL", "'2026-05-06 10:00:00'"],
    ["String", "''", "'2026-05-06 10:00:00'"],
  ])("reads draining_at of type %s", async (type, never, at) => {
    const result = await given(
      [`0, 'th.example', 'a', 'fra1', ${never}`, `1, 'th.example', 'b', 'fra1', ${at}`],
      (lab) => lab.testHelpers.list(),
      `rdn UInt32, dns_zone String, name String, region LowCardinality(String), draining_at ${type}`,
    );
    expect(result.column("draining_at")).toEqual([new Date("2026-05-06T10:00:00Z"), null]);
    expect(result.column("rdn")).toEqual(["1", "0"]);
  });

  it("says which field is missing, and that an empty table is empty", async () => {
    await expect(
      given([], (lab) => lab.testHelpers.list(), FIVE.replace("region String, ", "")),
    ).rejects.toThrow(`Can't find a column "region" in test_helper_instances`);
    const empty = await given([], (lab) => lab.testHelpers.list());
    expect(empty.numRows()).toBe(0);
    expect(empty.origin.notes.at(-1)).toBe("The table of test helpers holds no instance.");
  });
});

describe("rotation(options)", () => {
  const SERVICE = [
    live(0, "20260505000000"),
    live(1, "20260428000000"),
    live(2, "20260421000000"),
    drained(0, "20260407000000", "2026-05-05 01:00:00"),
    drained(1, "20260401000000", "2026-04-28 01:00:00"),
    drained(2, "20260325000000", "2026-04-28 00:15:00"),
  ];

  it("names the oldest live one as next, though drained ones are older", async () => {
    const found = await given(SERVICE, (lab) => lab.testHelpers.rotation());
    expect(found.next?.name).toBe("th-20260421000000");
    // lab.now is 2026-05-08
    expect(found.next?.age_days).toBe(17);
    expect(found.instances.column("state")).toEqual([
      "live",
      "live",
      "live",
      "draining",
      "draining",
      "draining",
    ]);
    expect(found.instances.column("age_days").slice(0, 4)).toEqual([3, 10, 17, 28 + 1 / 24]);
    expect(found.instances.column("next")).toEqual([false, false, true, false, false, false]);
  });

  it("tells ages that lie about a week apart from ages that don't", async () => {
    const even = await given(SERVICE, (lab) => lab.testHelpers.rotation());
    expect(even.stagger).toEqual({ gapDays: [7, 7], staggered: true });
    const ask = (lab: Lab) => lab.testHelpers.rotation();
    const two = [live(0, "20260505000000"), live(1, "20260504000000")];
    expect((await given(two, ask)).stagger).toEqual({ gapDays: [1], staggered: false });
    const one = await given([live(0, "20260505000000")], ask);
    expect(one.stagger).toEqual({ gapDays: [], staggered: null });
  });

  it("finds rotations closer than the threshold, 24 hours unless told otherwise", async () => {
    const found = await given(SERVICE, (lab) => lab.testHelpers.rotation());
    expect(found.rotations.column("name")[1]).toBe("th-20260401000000");
    expect(found.rotations.column("hours")).toEqual([null, 0.75, 168]);
    expect(found.rotations.column("too_close")).toEqual([false, true, false]);
    expect(found.findings.join("\n")).toContain(
      "began to drain at 2026-04-28 01:00 UTC, 45 minutes after the rotation before it: less than 24 hours",
    );
    const shorter = await given(SERVICE, (lab) => lab.testHelpers.rotation({ closestHours: 0.5 }));
    expect(shorter.findings).toContain("No two rotations were less than 0.5 hours apart.");
  });

  it("says whether the next may be rotated now, and the earliest safe moment", async () => {
    // lab.now is 2026-05-08: DNS changed three days ago, as the first drained and the youngest was made.
    const calm = await given(SERVICE, (lab) => lab.testHelpers.rotation());
    expect(calm.turn).toEqual({
      now: true,
      from: new Date("2026-05-06T01:00:00Z"),
      staggeredFrom: new Date("2026-05-09T00:00:00Z"),
    });
    expect(calm.findings.join("\n")).toContain(
      "It may be rotated now: DNS changed 71.0 hours ago. To keep the ages staggered wait until 2026-05-09 UTC.",
    );
    const hasty = [...SERVICE, drained(2, "20260318000000", "2026-05-07 23:20:00")];
    const early = await given(hasty, (lab) => lab.testHelpers.rotation());
    expect(early.turn).toMatchObject({ now: false, from: new Date("2026-05-08T23:20:00Z") });
    expect(early.findings.join("\n")).toContain(
      "Don't rotate now: DNS changed 40 minutes ago. The earliest safe moment is 2026-05-08 23:20 UTC.",
    );
    const none = await given([drained(0, "20260407000000", "2026-05-05 01:00:00")], (lab) =>
      lab.testHelpers.rotation(),
    );
    expect(none.turn.now).toBeNull();
    expect(none.findings.join("\n")).toContain("Can't tell whether the next may be rotated now");
  });

  it("does not guess ages from names without a time", async () => {
    const row = (rdn: number, name: string) => `'${rdn}', 'th.example', '${name}', 'fra1', NULL`;
    const names = ["alpha", "th-20260505000000", "th-20260230000000", "th-120260501123005"];
    const found = await given(
      names.map((name, rdn) => row(rdn, name)),
      (lab) => lab.testHelpers.rotation(),
    );
    expect(found.next).toBeNull();
    expect(found.instances.column("age_days")).toEqual([3, null, null, null]);
    expect(found.findings.join(" ")).toContain("is unknown: their names don't all end in a time");
  });

  it.each([
    [
      "Nullable(DateTime64(3, 'Asia/Tokyo'))",
      "toDateTime64('2026-04-30 06:00:00', 3, 'UTC')",
      "NULL",
    ],
    ["UInt32", "1777528800", "0"],
    ["Int64", "1777528800000000", "0"],
    ["String", "'2026-04-30T06:00:00Z'", "''"],
    ["Nullable(String)", "'1777528800000'", "NULL"],
  ])(
    "takes the time of making from created_at of type %s, else from the name",
    async (type, at, none) => {
      const ask = (lab: Lab) => lab.testHelpers.rotation();
      const found = await given(
        [
          `'0', 'th.example', 'alpha', 'fra1', NULL, ${at}`,
          `${live(1, "20260501000000")}, ${none}`,
        ],
        ask,
        `${FIVE}, created_at ${type}`,
      );
      expect(found.instances.column("made_at")).toEqual([
        new Date("2026-05-01T00:00:00Z"),
        new Date("2026-04-30T06:00:00Z"),
      ]);
      expect(found.next?.name).toBe("alpha");
    },
  );

  it("says which columns are missing, and refuses unknown options", async () => {
    await given(SERVICE, async (lab) => {
      const found = await lab.testHelpers.rotation({ closestHours: 1 });
      expect(found.instances.origin.notes.slice(1)).toEqual([
        "test_helper_instances has no column created_at: ages come from the names.",
        "test_helper_instances has no column destroyed_at: whether a draining one is gone is unknown.",
      ]);
      await expect(lab.testHelpers.rotation({ closestHour: 1 } as object)).rejects.toThrow(
        /did you mean closestHours\?/,
      );
      await expect(lab.testHelpers.list({ limt: 1 } as object)).rejects.toThrow(
        /did you mean limit\?/,
      );
    });
  });

  it("calls an instance destroyed where the table has destroyed_at", async () => {
    const found = await given(
      [
        `${drained(0, "20260401000000", "2026-05-01 00:00:00")}, '2026-05-01 06:00:00'`,
        `${live(1, "20260501000000")}, NULL`,
      ],
      (lab) => lab.testHelpers.rotation(),
      `${FIVE}, destroyed_at Nullable(DateTime('UTC'))`,
    );
    expect(found.instances.column("state")).toEqual(["live", "destroyed"]);
  });

  it("refuses a threshold that is no span of time", async () => {
    await expect(
      given(SERVICE, (lab) => lab.testHelpers.rotation({ closestHours: -1 })),
    ).rejects.toThrow("Can't look at rotations with closestHours: -1: pass a number from 0");
  });

  it("is drawn as a timeline with a lane per name and a line at the hasty rotation", async () => {
    const found = await given(SERVICE, (lab) => lab.testHelpers.rotation());
    const svg = await chart.vegaLite(found.instances, testHelpers.timeline(found)).svg();
    for (const host of ["0.th.example", "1.th.example", "2.th.example"]) {
      expect(svg).toContain(`>${host}</text>`);
    }
    expect(svg).toContain("2026-04-28: 45 min after the one before");
    expect(svg).toContain(">next</text>");
  });
});
