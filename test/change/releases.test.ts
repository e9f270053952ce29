import { describe, expect, test } from "vitest";
import { explainCells } from "../../src/change/cells/explain.js";
import { seeded } from "../support/change/draws.js";
import {
  cellsOf as serviceCells,
  has,
  serviceOf,
  type Run,
  type Service,
} from "../support/change/users.js";
import { leavesBy } from "../../src/change/cells/cube.js";
import { cellsOf, type Row } from "../support/change/cells.js";

const NAMES = ["software_name", "software_version", "probe_cc", "test_name"];
const COUNTRIES = Array.from({ length: 15 }, (_, at) => `C${at + 1}`);
const TESTS = ["web", "dns", "speed"];

/** Programs of which the first has more than half of all rows; a new release takes up to 40 % of its users. */
function rollout(
  seed: number,
  left: (program: string, version: string, country: string) => number,
): Row[] {
  const draw = seeded(seed);
  const before: Record<string, number> = { "2.9.0": 0.7, "2.10.0": 0.3, "2.11.0": 0 };
  const after: Record<string, number> = { "2.9.0": 0.4, "2.10.0": 0.25, "2.11.0": 0.35 };
  const sizes: Record<string, number> = { app: 60_000, cli: 15_000, ios: 12_000, web: 10_000 };
  return Object.entries(sizes).flatMap(([program, all]) =>
    COUNTRIES.flatMap((country, at) => {
      const part = (all * 2) / ((at + 2) * 7.1);
      return TESTS.flatMap((name) =>
        Object.keys(before).map((version): Row => {
          const size = part / TESTS.length;
          return {
            values: [program, version, country, name],
            before: draw.count(size * before[version]!, 20),
            after: draw.count(size * after[version]! * left(program, version, country), 20),
          };
        }),
      );
    }),
  );
}

/** Versions of a program, as many a country before and after, beside four programs that stay; in 40 countries. */
function besideOthers(
  seed: number,
  sizes: readonly (readonly [program: string, version: string, before: number, after: number])[],
): Row[] {
  const draw = seeded(seed);
  const others = ["cli", "desktop", "tv", "watch"].map(
    (name) => [name, "1.0", 6_000, 6_000] as const,
  );
  return [...sizes, ...others].flatMap(([name, version, before, after]) =>
    Array.from({ length: 40 }, (_, at): Row => {
      const weight = (at + 1) / 20;
      const values = [name, version, `C${at + 1}`];
      return { values, before: draw.count(before * weight), after: draw.count(after * weight) };
    }),
  );
}

describe("releases", () => {
  test("users who move in every program are no cause, and are told as a move", () => {
    let [quiet, told] = [0, 0];
    for (let seed = 0; seed < 40; seed += 1) {
      const rows = rollout(seed, () => 1);
      const { found, moves, sentence } = explainCells(cellsOf(NAMES, rows));
      quiet += Number(!found);
      expect(moves.length).toBeGreaterThanOrEqual(3);
      expect(moves[0]).toMatchObject({ dimension: "software_version" });
      told += Number(/Users also upgraded: \w+ 2\.9\.0 → /.test(sentence));
    }
    expect(quiet).toBeGreaterThanOrEqual(38);
    // Programs of few rows may be off by more than a twentieth.
    expect(told).toBeGreaterThanOrEqual(36);
  });

  test("that few probes with many rows leave, each as a whole, is seldom told as stopped", () => {
    let quiet = 0;
    for (let seed = 0; seed < 40; seed += 1) {
      const { uniform, between, count } = seeded(seed);
      const rows = Array.from({ length: 120 }, (_, probe): Row[] => {
        const place = ["app", `C${between(1, 7)}`, String(probe % 60)] as const;
        const [old, leaves] = [uniform() < 0.4, uniform() < 0.85];
        const row = (version: string, before: number, after: number): Row => ({
          values: [place[0], version, place[1], place[2]],
          ...{ before: before * count(400), after: after * count(400) },
        });
        if (!old) return [row("3.10.0", 1, 1)];
        return [row("3.9.0", 1, leaves ? 0 : 1), row("3.10.0", 0, leaves ? 1 : 0)];
      }).flat();
      const names = ["software_name", "software_version", "probe_cc", "probe_asn"];
      quiet += Number(!explainCells(cellsOf(names, rows)).found);
    }
    expect(quiet).toBeGreaterThanOrEqual(35);
  });

  // Users of app go from 3.9.0 to 3.10.0; other programs stay.
  test.each<[string, Parameters<typeof besideOthers>[1], Record<string, string>, RegExp]>([
    [
      "that loses rows is named by what was expected of it, as one that users stay with kept its rows",
      [
        ["app", "3.8.0", 3_000, 3_000],
        ["app", "3.9.0", 9_000, 2_000],
        ["app", "3.10.0", 0, 2_800],
      ],
      { software_name: "app", software_version: "3.10.0" },
      /app 3\.10\.0 lost 60 % of its measurements\. 11\d,\d{3} measurements came where 28\d,\d{3} were to be expected \(−60 %\)/,
    ],
    [
      "that brings no measurements is named in place of the one that its users left",
      [
        ["app", "3.8.0", 3_000, 3_000],
        ["app", "3.9.0", 9_000, 4_000],
        ["app", "3.10.0", 0, 120],
      ],
      { software_name: "app", software_version: "3.10.0" },
      /^app 3\.10\.0 stopped\. [\d,]+ measurements came where/,
    ],
    [
      "can't be told from its program where no other release shows it",
      [
        ["app", "3.9.0", 9_000, 4_000],
        ["app", "3.10.0", 0, 120],
      ],
      { software_name: "app" },
      /These rows can't tell whether software_name app did, or app 3\.10\.0 alone\./,
    ],
    [
      "can't be told from one that is gone, whose users never came to it",
      [
        ["app", "3.8.0", 3_000, 3_000],
        ["app", "3.9.0", 9_000, 5_000],
        ["app", "3.9.1", 3_000, 0],
        ["app", "3.10.0", 0, 3_400],
      ],
      { software_name: "app", software_version: "3.10.0" },
      /These rows can't tell whether app 3\.10\.0 did, or app 3\.9\.1 alone\./,
    ],
  ])("a new release %s", (_, sizes, where, told) => {
    const rows = besideOthers(12, sizes);
    const { causes, sentence } = explainCells(cellsOf(NAMES.slice(0, 3), rows));
    expect(causes.map((cause) => cause.where)).toEqual([where]);
    expect(sentence).toMatch(told);
  });

  test("a release that two programs have, and that falls in one country in both, is one cause", () => {
    let exact = 0;
    for (let seed = 0; seed < 20; seed += 1) {
      // The others number their releases otherwise.
      const shared = (program: string) => program === "app" || program === "cli";
      const rows = rollout(seed, (program, version, country) =>
        version === "2.9.0" && country === "C1" && shared(program) ? 0.05 : 1,
      ).map(({ values: [program, version, ...others], ...row }): Row => {
        const own = shared(program!) ? version! : `${program} ${version}`;
        return { ...row, values: [program!, own, ...others] };
      });
      const { causes } = explainCells(cellsOf(NAMES, rows));
      const where = causes.map((one) => JSON.stringify(Object.entries(one.where).sort()));
      exact += Number(where.join() === '[["probe_cc","C1"],["software_version","2.9.0"]]');
    }
    expect(exact).toBeGreaterThanOrEqual(18);
  });

  test.each<[string, Parameters<typeof rollout>[1], Record<string, string>]>([
    [
      "a program that falls as its users go on no more than others'",
      (program) => (program === "ios" ? 0.3 : 1),
      { software_name: "ios" },
    ],
    [
      "a program that falls in all its releases",
      (program) => (program === "app" ? 0.5 : 1),
      { software_name: "app" },
    ],
    [
      "a release that loses rows in one country, though neither shows it,",
      (_, version, country) => (version === "2.10.0" && country === "C2" ? 0.1 : 1),
      { software_version: "2.10.0", probe_cc: "C2" },
    ],
  ])("%s is named alone", (_, left, where) => {
    let right = 0;
    for (let seed = 0; seed < 20; seed += 1) {
      const { causes, rest, before, after } = explainCells(cellsOf(NAMES, rollout(seed, left)));
      const sorted = (of: object = {}) => JSON.stringify(Object.entries(of).sort());
      right += Number(sorted(causes[0]?.where) === sorted(where));
      const sum = causes.reduce((all, { change }) => all + change, rest.change);
      expect(sum).toBeCloseTo(after! - before!, 6);
    }
    expect(right).toBeGreaterThanOrEqual(18);
  });

  test("an old release that stops as the others stay is named, though users go on elsewhere", () => {
    let right = 0;
    for (let seed = 0; seed < 10; seed += 1) {
      const rows = rollout(seed, () => 1).map((row): Row => {
        const [program, version] = row.values;
        if (program !== "cli") return row;
        return { ...row, after: version === "2.9.0" ? 0 : row.before };
      });
      const [first] = explainCells(cellsOf(NAMES, rows)).causes;
      const { software_name: name, software_version: version } = first?.where ?? {};
      right += Number(name === "cli" && version === "2.9.0" && first!.change < 0);
    }
    expect(right).toBeGreaterThanOrEqual(9);
  });

  test("a program that goes on under another name is told on both sides", () => {
    const asked = (moved: (country: string) => number) => {
      const rows = besideOthers(15, [["app", "3.9.0", 9_000, 0]]).concat(
        besideOthers(16, [["app2", "4.0.0", 0, 9_000]]).slice(0, 40),
      );
      const named = rows.map(({ values: [program, version, country], ...row }): Row => {
        const place = program === "app2" ? `C${moved(country!)}` : country!;
        return { ...row, values: [program!, version!, place] };
      });
      return explainCells(cellsOf(NAMES.slice(0, 3), named));
    };
    const told = (where: readonly { readonly where: Readonly<Record<string, unknown>> }[]) =>
      where.map((one) => one.where["software_name"]).sort();
    expect(told(asked((country) => Number(country.slice(1))).causes)).toEqual(["app", "app2"]);
    const elsewhere = asked((country) => Number(country.slice(1)) + 100).causes;
    expect(elsewhere.flatMap(({ where }) => where["software_name"]).sort()).toEqual([
      "app",
      "app2",
    ]);
  });
});

describe("what is said of releases", () => {
  test("users who went to an older release went back, and upgraded nothing", () => {
    const rows = besideOthers(3, [
      ["app", "3.9.0", 2_000, 8_000],
      ["app", "3.10.0", 8_000, 2_000],
    ]);
    const { moves, sentence } = explainCells(cellsOf(NAMES.slice(0, 3), rows));
    expect(moves[0]).toMatchObject({ values: ["3.10.0", "3.9.0"], isBack: true });
    expect(sentence).toMatch(
      /Users also went back: app 3\.10\.0 → 3\.9\.0 \(all its measurements: /,
    );
    expect(sentence).not.toContain("upgraded");
  });

  test("a program without rows in the earlier range appeared: whether it is new isn't known", () => {
    const rows = besideOthers(4, [["app2", "1.0", 0, 9_000]]);
    const { sentence } = explainCells(cellsOf(NAMES.slice(0, 3), rows));
    expect(sentence).toMatch(/app2.* appeared, with [\d,]+ measurements/);
    expect(sentence).not.toContain("is new");
  });

  test("rows that the table doesn't hold would have come, and didn't", () => {
    for (let seed = 0; seed < 12; seed += 1) {
      const service = serviceOf(seeded(seed), { rows: 60_000 });
      const [one] = service.programs;
      const versions = one!.versions.slice(-2);
      // The newest release holds a third, and half of the runs of the program in its largest country are gone.
      service.runs = service.runs.flatMap((run) => {
        const isOne = run.day >= 0 && run.values[0] === one!.name;
        if (isOne && run.values[2] === "AA" && run.user % 2 === 0) return [];
        const isShort = isOne && versions.includes(run.values[1]!);
        return isShort ? { ...run, length: Math.max(1, Math.round(run.length / 3)) } : run;
      });
      const { causes } = explainCells(serviceCells(service.runs, false));
      for (const { where, sentence = "" } of causes) {
        const [, told] = /([\d,]+)(?: measurements)? came where/.exec(sentence) ?? [];
        if (told === undefined) continue;
        const most = service.runs.filter((run) => run.day >= 0 && has(run, where));
        const held = most.reduce((sum, { length }) => sum + length, 0);
        expect(Number(told.replaceAll(",", ""))).toBeLessThanOrEqual(held);
      }
    }
  });
});

describe("what comes and goes with a few users", () => {
  /** Both weeks of a service, of whose second some runs are left; of a share those that failed. */
  const asked = (
    seed: number,
    rows: number,
    kept: (run: Run, service: Service) => boolean,
    isShare = false,
  ) => {
    const service = serviceOf(seeded(seed), { rows, share: isShare });
    const runs = service.runs.filter((run) => kept(run, service));
    return explainCells(serviceCells(runs, isShare));
  };
  /** The user with most runs. */
  const heaviest = ({ runs }: Service) => {
    const users = [...leavesBy(runs.map(({ user }) => user))];
    return users.reduce((a, b) => (b[1].length > a[1].length ? b : a))[0];
  };

  test("may be one user where nearly all of it is of one program, country and network", () => {
    const { found, causes, sentence } = asked(22, 20_000, ({ day, user }, all) => {
      return day < 0 || user !== heaviest(all);
    });
    expect(found).toBe(false);
    expect(causes[0]).toMatchObject({ grade: "may be", after: 0 });
    expect(sentence).toContain("it may be one user");
  });

  test("says that all may have fallen only where a cause says so", () => {
    const told = [34, 64, 81].map((seed) => {
      const draw = seeded(seed);
      const service = serviceOf(draw, { rows: 15_000 });
      const kept = 0.6 + 0.2 * draw.uniform();
      const runs = service.runs.flatMap((run): Run[] => {
        if (run.day < 0) return [run];
        if (draw.uniform() > kept) return [];
        const isShort = run.values[0] === service.programs[1]!.name;
        return [isShort ? { ...run, length: Math.ceil(run.length * 0.3) } : run];
      });
      return explainCells(serviceCells(runs, false));
    });
    for (const { causes, sentence } of told) {
      expect(causes.length).toBeGreaterThan(0);
      const isAll = causes.some(({ where }) => Object.keys(where).length === 0);
      expect(isAll || !sentence.includes("whether all did")).toBe(true);
    }
  });

  test("is two causes, one after the other, where a release has fewer runs and they hold fewer", () => {
    const draw = seeded(1);
    const service = serviceOf(draw, { rows: 200_000 });
    const where = { software_name: "miniprobe", software_version: "2.9.0" };
    const runs = service.runs.flatMap((run): Run[] => {
      if (run.day < 0 || !has(run, where)) return [run];
      return draw.uniform() < 0.5 ? [] : [{ ...run, length: Math.ceil(run.length * 0.4) }];
    });
    const { causes, result } = explainCells(serviceCells(runs, false));
    expect(causes.map(({ where }) => where)).toEqual([where, where]);
    const [fewer, shorter] = causes;
    expect(shorter!.before).toBeCloseTo(fewer!.after!);
    expect(shorter!.after).toBe(
      runs
        .filter((run) => run.day >= 0 && has(run, where))
        .reduce((sum, { length }) => sum + length, 0),
    );
    expect(result.rows().map((row) => row["cause"])).toEqual([
      "miniprobe 2.9.0",
      "what runs of miniprobe 2.9.0 hold",
      "all rows without them",
    ]);
  });

  test("is told of the whole program where its releases lost alike", () => {
    const { causes } = asked(20, 15_000, ({ day, user, values: [program] }) => {
      return day < 0 || program !== "Kiosk" || user % 4 === 0;
    });
    const own = causes.filter(({ where }) => where["software_name"] === "Kiosk");
    expect(own.map(({ where }) => where)).toEqual([{ software_name: "Kiosk" }]);
  });

  test("is not told of all rows where one program has nearly all of them", () => {
    let lost = "";
    const { sentence } = asked(14, 15_000, ({ day, user, values: [program] }, all) => {
      const sizes = [
        ...leavesBy(
          all.runs.map(({ values }) => all.programs.findIndex(({ name }) => name === values[0])),
        ),
      ];
      const [largest] = sizes.reduce((a, b) => (b[1].length > a[1].length ? b : a));
      lost = all.programs[largest]!.name;
      return day < 0 || program !== lost || user % 4 === 0;
    });
    expect(sentence).toMatch(new RegExp(`^${lost} lost \\d+ % of its measurements\\.`));
    expect(sentence).toContain(
      `These rows can't tell whether software_name ${lost} did, or ${lost} `,
    );
  });

  test("only may be the mix that moved a share", () => {
    const { found, sentence } = asked(
      37,
      15_000,
      ({ day, user }, all) => day >= 0 || user !== heaviest(all),
      true,
    );
    expect(found).toBe(false);
    expect(sentence).toMatch(/Possibly the mix of .*A few users who came or went may have done it/);
  });

  test("shows nothing of upgrades where one probe floods a release", () => {
    const service = serviceOf(seeded(0), { rows: 40_000 });
    const after = service.runs.filter(({ day }) => day >= 0);
    const one = after[Math.floor(after.length / 2)]!;
    const flood = Array.from({ length: Math.ceil(0.35 * service.runs.length) }, (_, at) => ({
      ...one,
      day: at % 7,
    }));
    const { causes } = explainCells(serviceCells([...service.runs, ...flood], false));
    const [first, ...others] = causes;
    expect(others).toEqual([]);
    expect(first!.where).toMatchObject({ probe_asn: one.values[3], test_name: one.values[4] });
    expect(first!.change / (flood.length * one.length)).toBeCloseTo(1, 1);
  });
});
