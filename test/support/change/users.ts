/**
 * A made-up measurement service, user by user: programs of their own pace whose users upgrade over two
 * to three weeks, countries, networks, tests with runs of their own length, users of very different
 * weight who come, go and rest at weekends. Two weeks of runs, from day −7 up to 7.
 */
import type { ChangeCells } from "../../../src/change/cells/cells.js";
import { cellsOf as cellsOfRows, type Row } from "./cells.js";
import type { seeded } from "./draws.js";

export type Value = string | null;
export type Where = Readonly<Record<string, Value>>;
type Draw = ReturnType<typeof seeded>;

export const NAMES = [
  "software_name",
  "software_version",
  "probe_cc",
  "probe_asn",
  "test_name",
] as const;
export const WANDER = { country: 0.03, network: 0.04 };

/** A run of a user: `values` by {@link NAMES}, the measurements it holds, those of them that failed. */
export interface Run {
  readonly user: number;
  readonly day: number;
  readonly values: readonly Value[];
  readonly length: number;
  readonly failed: number;
}

export interface Service {
  readonly draw: Draw;
  /** Releases from the oldest to the newest, to which users go. */
  readonly programs: readonly { readonly name: string; readonly versions: readonly string[] }[];
  runs: Run[];
}

export interface ServiceOptions {
  /** Measurements a week, about. */
  readonly rows: number;
  /** Whether measurements fail. */
  readonly share?: boolean;
  /** How networks wander, as the standard deviation of a logarithm. */
  readonly wander?: number;
  /** Days before the second week that the newest releases came: from, to. */
  readonly released?: readonly [number, number];
  /** Whether there are but three days of each week. */
  readonly short?: boolean;
}

const PROGRAMS =
  "netmeter-android netmeter-android-unattended netmeter-ios netmeter-cli miniprobe Kiosk netmeter-desktop router_fw miniprobe-dev";
const TESTS = ["web", "telegram", "ndt", "dash", "whatsapp", "http_header", "", "signal", "tor"];
const STYLES = [
  (draw: Draw) => {
    const [major, minor] = [draw.between(1, 5), draw.between(6, 12)];
    const text = (more: number, patch: number) => `${major}.${minor + more}.${patch}`;
    return [text(0, draw.between(0, 4)), text(1, 0), text(1, 1), text(2, 0)];
  },
  // The same number is another release of each program.
  () => ["2025.9", "2025.11", "2026.2", "2026.5"],
  (draw: Draw) => {
    const minor = draw.between(6, 12);
    return [`v${minor}`, `v${minor + 1}`, `v${minor + 2}-rc1`, `v${minor + 2}`];
  },
];

export function serviceOf(draw: Draw, options: ServiceOptions): Service {
  const { rows, share = false, wander = WANDER.network, released = [-3, 18], short } = options;
  const range = (from: number, to: number) => from + (to - from) * draw.uniform();
  const spreadBy = (deviation: number) => Math.exp(deviation * draw.normal());
  const many = (count: number) => [...Array(count).keys()];

  const tests = TESTS.slice(0, draw.between(2, 10)).map((name, at) => {
    const whole = at > 0 && draw.uniform() < 0.6;
    const length = at === 0 ? range(12, 82) : whole ? draw.between(1, 4) : range(3, 23);
    return { name, length, scatter: whole ? 0 : at === 0 ? range(0.3, 1) : 0.5 };
  });
  const style = draw.pick(STYLES);
  const names = PROGRAMS.split(" ").sort(() => draw.uniform() - 0.5);
  const programs = names.slice(0, draw.between(2, 8)).map((name) => {
    const weights = tests.map((_, at) =>
      at > 0 && draw.uniform() < 0.3 ? 0 : spreadBy(0.7) * (at === 0 ? 2 : 1),
    );
    const factor = spreadBy(0.4);
    const [sum, held] = tests.reduce<[number, number]>(
      ([all, lengths], { length }, at) => [all + weights[at]!, lengths + weights[at]! * length],
      [0, 0],
    );
    return {
      name,
      versions: style(draw),
      released: -range(...released),
      days: range(3, 8),
      stuck: range(0.08, 0.38),
      /** Runs a user and day. */
      rate: draw.uniform() < 0.4 ? range(1, 5) : range(0.15, 0.75),
      weights,
      factor,
      mean: (factor * held) / sum,
      size: spreadBy(1),
    };
  });
  let lastNetwork = draw.between(1000, 10_000);
  const countries = many(draw.between(3, 61)).map((at) => {
    const letters = [at, at * 7 + Math.floor(at / 26)].map((n) =>
      String.fromCharCode(65 + (n % 26)),
    );
    const steep = range(0.6, 1.6);
    const networks = many(draw.between(1, 15)).map((k) => ({
      name: draw.uniform() < 0.02 ? "0" : String((lastNetwork += draw.between(1, 700))),
      weight: 1 / (k + 1) ** steep,
      moved: spreadBy(wander),
    }));
    return {
      name: at === 5 && draw.uniform() < 0.3 ? null : letters.join(""),
      weight: 1 / (at + 1 + range(0, 2)) ** 1.1,
      tastes: programs.map(() => spreadBy(0.6)),
      moved: spreadBy(WANDER.country),
      fails: 0.02 + 0.1 * draw.uniform() ** 2,
      networks,
    };
  });
  const week = [1, 1.02, 1.01, 1, 0.97, range(0.75, 1.05), range(0.8, 1.05)];
  const deviation = range(0.4, 1.3);
  const [churn, growth] = [range(0, 0.25), range(-0.02, 0.04)];
  const unknown = draw.uniform() < 0.5 ? range(0, 0.03) : 0;
  const of = (weight: (one: (typeof programs)[number]) => number) =>
    programs.reduce((sum, one) => sum + one.size * weight(one), 0);
  const users = Math.max(20, Math.round((rows * of(() => 1)) / (7 * of((p) => p.rate * p.mean))));

  const weighed = <Item>(items: readonly Item[], weight: (item: Item, at: number) => number) => {
    const ends: number[] = [];
    for (const [at, item] of items.entries()) ends.push((ends[at - 1] ?? 0) + weight(item, at));
    return () => {
      const place = draw.uniform() * ends.at(-1)!;
      return items[ends.findIndex((end) => place < end)]!;
    };
  };
  const programOf = weighed(programs, ({ size }) => size);
  const testOf = programs.map(({ weights }) => weighed(tests, (_, at) => weights[at]!));
  const countryOf = programs.map((_, p) =>
    weighed(countries, ({ weight, tastes }) => weight * tastes[p]!),
  );
  const networkOf = new Map(
    countries.map((one) => [one, weighed(one.networks, ({ weight }) => weight)]),
  );
  const runs: Run[] = [];
  for (const user of many(users)) {
    const program = programOf();
    const p = programs.indexOf(program);
    const country = countryOf[p]!();
    const network = networkOf.get(country)!();
    const rate = program.rate * Math.exp(deviation * draw.normal() - deviation ** 2 / 2);
    const comes = draw.uniform() < churn + growth ? range(-7, 7) : -30;
    const goes = draw.uniform() < churn ? range(-7, 7) : 30;
    const old = program.versions[draw.uniform() < 0.6 ? 1 : 0]!;
    const stays = draw.uniform() < program.stuck;
    const upgrades = program.released - program.days * Math.log(1 - draw.uniform());
    for (let day = -7; day < 7; day += 1) {
      if (day < comes || day > goes || (short && (day + 7) % 7 >= 3)) continue;
      const moved = day < 0 ? 1 : country.moved * network.moved;
      for (let left = draw.poisson(rate * week[(day + 7) % 7]! * moved); left > 0; left -= 1) {
        const { name: test, length: usual, scatter } = testOf[p]!();
        const noise = Math.exp(scatter * draw.normal() - scatter ** 2 / 2);
        const length = Math.max(1, Math.round(usual * program.factor * noise));
        const [, , last, newest] = program.versions;
        const known = stays ? old : day + draw.uniform() > upgrades ? newest! : last!;
        const version = draw.uniform() >= unknown ? known : draw.uniform() < 0.5 ? null : "";
        const values = [program.name, version, country.name, network.name, test];
        const failed = share ? failures(draw, length, country.fails) : 0;
        runs.push({ user, day, values, length, failed });
      }
    }
  }
  return { draw, programs, runs };
}

/** How many of so many measurements fail. */
export function failures(draw: Draw, many: number, rate: number): number {
  let failed = 0;
  for (let left = many; left > 0; left -= 1) failed += Number(draw.uniform() < rate);
  return failed;
}

/** Whether a run has these values. */
export function has({ values }: Run, where: Readonly<Record<string, unknown>>): boolean {
  return NAMES.every((name, at) => {
    if (!(name in where)) return true;
    const wanted = where[name];
    return Array.isArray(wanted) ? wanted.includes(values[at]) : wanted === values[at];
  });
}

/** The cells of both weeks, as the engine's answers become. */
export function cellsOf(runs: readonly Run[], share: boolean): ChangeCells {
  const sums = new Map<string, { values: readonly Value[]; of: number[] }>();
  for (const { values, day, length, failed } of runs) {
    const key = JSON.stringify(values);
    const own = sums.get(key) ?? { values, of: [0, 0, 0, 0, 0, 0] };
    sums.set(key, own);
    const week = day < 0 ? 0 : 3;
    for (const [at, amount] of [length, failed, 1].entries()) own.of[week + at]! += amount;
  }
  const rows = [...sums.values()].map(({ values, of }): Row => {
    const [before, partBefore, ran, after, partAfter, run] = of as [
      ...[number, number, number],
      ...[number, number, number],
    ];
    const rate = { values, before, after, partBefore, partAfter };
    return share ? rate : { ...rate, runs: [ran, run] };
  });
  return cellsOfRows(NAMES, rows, share ? "rate" : "flow");
}
