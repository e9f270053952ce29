import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { table, type Lab } from "../../../src/index.js";
import { ownDatabase } from "../../support/own-database.js";

const own = ownDatabase();
// "Now" of a lab.
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-05-08") }));
afterAll(() => void vi.useRealTimers());

const FIVE =
  "rdn String, dns_zone String, name String, region String, draining_at Nullable(DateTime('UTC'))";

/** Makes the table anew of `columns` and rows of SQL values, and asks it. */
async function given<T>(
  values: readonly string[],
  ask: (lab: Lab) => Promise<T>,
  columns = FIVE,
  engine = "MergeTree ORDER BY name",
): Promise<T> {
  for (const query of [
    `CREATE OR REPLACE TABLE test_helper_instances (${columns}) ENGINE = ${engine}`,
    "SYSTEM STOP MERGES test_helper_instances",
    // One INSERT a row: parts that no merge has collapsed.
    ...values.map((value) => `INSERT INTO test_helper_instances VALUES (${value})`),
  ]) {
    await own.writer.command(query);
  }
  await using lab = await own.open();
  return await ask(lab);
}
const list = (lab: Lab) => lab.testHelpers.list();
const rotation = (lab: Lab) => lab.testHelpers.rotation();

const live = (rdn: number, made: string) => `'${rdn}', 'th.example', 'th-${made}', 'fra1', NULL`;
const drained = (rdn: number, made: string, at: string) =>
  `'${rdn}', 'th.example', 'th-${made}', 'fra1', '${at}'`;

describe("list()", () => {
  it("gives the five fields, name descending, 8 rows, and says that there are more", async () => {
    const rows = Array.from({ length: 11 }, (_, i) => live(i, `202605010000${String(i + 10)}`));
    const result = await given(rows, list);
    expect(result.columnNames()).toEqual(["rdn", "dns_zone", "name", "region", "draining_at"]);
    expect(result.column("name")).toEqual(
      Array.from({ length: 8 }, (_, i) => `th-202605010000${20 - i}`),
    );
    expect(result.origin.reductions).toEqual(["The 8 greatest names of 11 test helpers."]);
    expect(table(result).markdown).toContain("th-20260501000020");
  });

  it("does not count cancelled rows of a CollapsingMergeTree, nor of a view over one", async () => {
    const [first, second] = [live(0, "20260501000000"), live(1, "20260502000000")];
    const rows = [
      `${first}, 1`,
      `${second}, 1`,
      `${first}, -1`,
      `${drained(0, "20260501000000", "2026-05-06 10:00:00")}, 1`,
      `${live(2, "20260503000000")}, 1`,
      `${live(2, "20260503000000")}, -1`,
    ];
    const left = [
      ["th-20260502000000", null],
      ["th-20260501000000", new Date("2026-05-06T10:00:00Z")],
    ];
    const found = async (lab: Lab) =>
      (await list(lab)).rows().map(({ name, draining_at }) => [name, draining_at]);
    const collapsing = "CollapsingMergeTree(sign) ORDER BY name";
    await given(
      rows,
      async (lab) => {
        expect(await found(lab)).toEqual(left);
        await own.writer.command("RENAME TABLE test_helper_instances TO behind");
        await own.writer.command("CREATE VIEW test_helper_instances AS SELECT * FROM behind");
        await using view = await own.open();
        expect(await found(view)).toEqual(left);
        await own.writer.command("DROP TABLE test_helper_instances SYNC");
      },
      `${FIVE}, sign Int8`,
      collapsing,
    );
  });

  it.each([
    ["DateTime('UTC')", "0"],
    ["Nullable(DateTime64(6, 'UTC'))", "NULL"],
  ])("reads draining_at of type %s", async (type, never) => {
    const result = await given(
      [
        `0, 'th.example', 'a', 'fra1', ${never}`,
        `1, 'th.example', 'b', 'fra1', '2026-05-06 10:00:00'`,
      ],
      list,
      `rdn UInt32, dns_zone String, name String, region LowCardinality(String), draining_at ${type}`,
    );
    expect(result.column("draining_at")).toEqual([new Date("2026-05-06T10:00:00Z"), null]);
    expect(result.column("rdn")).toEqual(["1", "0"]);
  });

  it("refuses times as text, with the view that reads them", async () => {
    const text = FIVE.replace("Nullable(DateTime('UTC'))", "String");
    const row = "'0', 'th.example', 'a', 'fra1', '2026-05-06 10:00:00'";
    await expect(given([row], list, text)).rejects.toThrow(
      /Have a view made, CREATE VIEW .*parseDateTime64BestEffortOrNull/,
    );
  });

  it("says which field is missing, that an empty table is empty, and which option is unknown", async () => {
    await expect(given([], list, FIVE.replace("region String, ", ""))).rejects.toThrow(
      `Can't find a column "region" in test_helper_instances`,
    );
    const empty = await given([], list);
    expect(empty.numRows()).toBe(0);
    expect(empty.origin.notes.at(-1)).toBe("The table of test helpers holds no instance.");
    await expect(given([], (lab) => lab.testHelpers.list({ limt: 1 } as object))).rejects.toThrow(
      /did you mean limit\?/,
    );
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

  it("names the oldest live one, its turn, the stagger, and rotations too close for DNS", async () => {
    const { instances, rotations, next, stagger, turn, findings } = await given(SERVICE, rotation);
    // Those that drained are older. lab.now is 2026-05-08.
    expect(next?.name).toBe("th-20260421000000");
    expect(instances.column("state")).toEqual([
      ...["live", "live", "live"],
      ...["draining", "draining", "draining"],
    ]);
    expect(instances.column("age_days").slice(0, 4)).toEqual([3, 10, 17, 28 + 1 / 24]);
    expect(instances.column("next")).toEqual([false, false, true, false, false, false]);
    expect(stagger).toEqual({ gapDays: [7, 7], staggered: true });
    expect(rotations.column("name")[1]).toBe("th-20260401000000");
    expect(rotations.column("hours")).toEqual([null, 0.75, 168]);
    expect(rotations.column("too_close")).toEqual([false, true, false]);
    // DNS changed three days ago, as the first drained and the youngest was made.
    expect(turn).toEqual({
      now: true,
      from: new Date("2026-05-06T01:00:00Z"),
      staggeredFrom: new Date("2026-05-09T00:00:00Z"),
    });
    expect(findings.join("\n")).toBe(
      [
        "3 of 6 test helpers are live.",
        "Next to rotate: th-20260421000000 (2.th.example), the oldest live one, 17.0 days old.",
        "The ages of the live ones lie 7.0, 7.0 days apart: staggered by 7 ± 3 days.",
        "th-20260401000000 (1.th.example) began to drain at 28 Apr 2026 01:00 UTC, 45 min after the rotation before it: less than 24 hours are too close for DNS to follow.",
        "It may be rotated now: DNS changed 2 days 23 h ago. To keep the ages staggered wait until 9 May 2026 00:00 UTC.",
      ].join("\n"),
    );
    expect(instances.origin.notes.slice(1)).toEqual([
      "test_helper_instances has no column created_at: ages come from the names.",
      "test_helper_instances has no column destroyed_at: whether a draining one is gone is unknown.",
    ]);
  });

  it("says when it is too early, when ages aren't staggered, and what can't be told", async () => {
    const hasty = [...SERVICE, drained(2, "20260318000000", "2026-05-07 23:20:00")];
    const early = await given(hasty, rotation);
    expect(early.turn).toMatchObject({ now: false, from: new Date("2026-05-08T23:20:00Z") });
    expect(early.findings.join("\n")).toContain(
      "Don't rotate now: DNS changed 40 min ago. The earliest safe moment is 8 May 2026 23:20 UTC.",
    );
    const near = await given([live(0, "20260505000000"), live(1, "20260504000000")], rotation);
    expect(near.stagger).toEqual({ gapDays: [1], staggered: false });
    const none = await given([drained(0, "20260407000000", "2026-05-05 01:00:00")], rotation);
    expect(none.turn.now).toBeNull();
    expect(none.stagger.staggered).toBeNull();
    expect(none.findings.join("\n")).toContain("Can't tell whether the next may be rotated now");
  });

  it("takes another distance, and refuses one that is no span of time", async () => {
    await given(SERVICE, async (lab) => {
      const shorter = await lab.testHelpers.rotation({ closestHours: 0.5 });
      expect(shorter.findings.join("\n")).toContain("were less than 0.5 hours apart.");
      await expect(lab.testHelpers.rotation({ closestHours: -1 })).rejects.toThrow(
        "Can't look at rotations with closestHours: -1: pass a number from 0",
      );
      await expect(lab.testHelpers.rotation({ closestHour: 1 } as object)).rejects.toThrow(
        /did you mean closestHours\?/,
      );
    });
  });

  it("does not guess ages from names without a time", async () => {
    const names = [
      "alpha",
      "th-20260505000000",
      "th-20991010200358",
      "th-20260230000000",
      "th-120260501123005",
    ];
    const found = await given(
      names.map((name, rdn) => `'${rdn}', 'th.example', '${name}', 'fra1', NULL`),
      rotation,
    );
    expect(found.next).toBeNull();
    expect(found.instances.column("age_days")).toEqual([null, 3, null, null, null]);
    expect(found.findings.join(" ")).toContain("is unknown: th-20991010200358 doesn't end in a past time");
  });

  it.each([
    ["Nullable(DateTime64(3, 'Asia/Tokyo'))", "toDateTime64('2026-04-30 06:00:00', 3, 'UTC')"],
    ["UInt32", "1777528800"],
    ["Int64", "1777528800000000"],
    ["Nullable(String)", "'1777528800000'"],
  ])(
    "takes the time of making from created_at of type %s, else from the name",
    async (type, at) => {
      const none = type.startsWith("Nullable") ? "NULL" : "0";
      const found = await given(
        [
          `'0', 'th.example', 'alpha', 'fra1', NULL, ${at}`,
          `${live(1, "20260501000000")}, ${none}`,
        ],
        rotation,
        `${FIVE}, created_at ${type}`,
      );
      expect(found.instances.column("made_at")).toEqual([
        new Date("2026-05-01T00:00:00Z"),
        new Date("2026-04-30T06:00:00Z"),
      ]);
      expect(found.next?.name).toBe("alpha");
    },
  );

  it("calls an instance destroyed where the table has destroyed_at", async () => {
    const found = await given(
      [
        `${drained(0, "20260401000000", "2026-05-01 00:00:00")}, '2026-05-01 06:00:00'`,
        `${live(1, "20260501000000")}, NULL`,
      ],
      rotation,
      `${FIVE}, destroyed_at Nullable(DateTime('UTC'))`,
    );
    expect(found.instances.column("state")).toEqual(["live", "destroyed"]);
  });
});
