/**
 * Seeded incidents of a made-up service, asked as cells: programs of their own pace whose users upgrade,
 * countries, networks, tests with runs of their own length, weekly wandering, one thing planted (or
 * nothing). SEEDS cases of each kind, from the seed FROM; SHOW=1 prints the answers that miss.
 *
 * Right is what a reader takes from the answer: the first cause has the planted values (a network names
 * its country too), its direction is the planted one, and the planted amount lies within three of its
 * intervals. An answer with another first cause, or with the guilty program's move cleared, is calmly wrong.
 */
import { performance } from "node:perf_hooks";
import type { ChangeCells } from "../../src/change/cells.js";
import { explainCells, type Explanation } from "../../src/change/explain.js";
import { between } from "../../src/time/time-range.js";

type Where = Readonly<Record<string, string>>;
const NAMES = ["software_name", "software_version", "probe_cc", "probe_asn", "test_name"];
const TESTS = { web: 40, dns: 12, speed: 2, chat: 5 };

/** A cell as it would be: runs expected before and after, measurements a run, a failing share. */
interface Cell {
  readonly where: Where;
  was: number;
  is: number;
  readonly held: number;
  holds: number;
  failed: number;
  fails: number;
}

interface Case {
  readonly cells: Cell[];
  readonly draw: Draw;
  readonly service: Service;
}

/** What was planted: undefined is nothing. */
type Planted = readonly { where: Where; up?: true }[] | undefined;

interface Service {
  readonly programs: readonly { name: string; versions: readonly string[] }[];
  readonly countries: readonly string[];
  readonly networks: readonly string[];
}

interface Kind {
  readonly share?: true;
  /** Measurements a week; default 60,000 to 500,000. */
  readonly rows?: number;
  readonly plant: (given: Case) => Planted;
}

const release = ({ service, draw }: Case, place = -1) => {
  const { name, versions } = draw.pick(service.programs.slice(0, 3));
  return { software_name: name, software_version: versions.at(place)! };
};
const country = ({ service, draw }: Case) => ({
  probe_cc: draw.pick(service.countries.slice(0, 6)),
});
const holds = (cell: Cell, where: Where) =>
  Object.entries(where).every(([name, value]) => cell.where[name] === value);
const lose = (given: Case, where: Where, kept: number): Planted => {
  for (const cell of given.cells) if (holds(cell, where)) cell.is *= kept;
  return [{ where, ...(kept > 1 && { up: true as const }) }];
};
const shorten = (given: Case, where: Where, kept: number): Planted => {
  for (const cell of given.cells) if (holds(cell, where)) cell.holds *= kept;
  return [{ where, ...(kept > 1 && { up: true as const }) }];
};
const fail = (given: Case, where: Where, fails: number): Planted => {
  for (const cell of given.cells) if (holds(cell, where)) cell.fails = fails;
  return [{ where, up: true }];
};
const rename = (given: Case, name: string, from: string, to: string): Planted => {
  for (const cell of [...given.cells]) {
    if (cell.where[name] !== from) continue;
    given.cells.push({ ...cell, where: { ...cell.where, [name]: to }, was: 0 });
    cell.is = 0;
  }
  return [{ where: { [name]: from } }, { where: { [name]: to }, up: true }];
};
const program = ({ service, draw }: Case) => ({ software_name: draw.pick(service.programs).name });
const network = ({ service, draw }: Case) => ({
  probe_asn: draw.pick(service.networks.slice(0, 12)),
});
const part = ({ draw }: Case) => 0.1 + 0.5 * draw.uniform();

const KINDS: Readonly<Record<string, Kind>> = {
  "release: runs end early": { plant: (one) => shorten(one, release(one), part(one)) },
  "release: early in one country": {
    plant: (one) => shorten(one, { ...release(one), ...country(one) }, 0.2),
  },
  "release: longer runs": { plant: (one) => shorten(one, release(one), 2) },
  "release: crash": { plant: (one) => lose(one, release(one), part(one)) },
  "release: loses a test": {
    plant: (one) => lose(one, { ...release(one), test_name: "web" }, 0.05),
  },
  "release: stops in a country": {
    plant: (one) => lose(one, { ...release(one), ...country(one) }, 0),
  },
  "old release shut out": { plant: (one) => lose(one, release(one, 0), 0) },
  "program lost": { plant: (one) => lose(one, program(one), part(one)) },
  "program's runs shorter": { plant: (one) => shorten(one, program(one), 0.5) },
  "country lost": { plant: (one) => lose(one, country(one), part(one)) },
  "network lost": { plant: (one) => lose(one, network(one), 0.1) },
  "test lost": { plant: (one) => lose(one, { test_name: "dns" }, part(one)) },
  "program in a country": {
    plant: (one) =>
      lose(one, { software_name: one.service.programs[1]!.name, ...country(one) }, 0.1),
  },
  "test in a country": { plant: (one) => lose(one, { ...country(one), test_name: "web" }, 0.1) },
  "the whole": { plant: (one) => lose(one, {}, part(one)) },
  "two causes": {
    plant: (one) => [...lose(one, country(one), 0.2)!, ...shorten(one, release(one), 0.4)!],
  },
  duplicates: { plant: (one) => shorten(one, program(one), 2) },
  "flood by one probe": {
    plant: (one) =>
      lose(
        one,
        { ...network(one), test_name: "web", software_name: one.service.programs[0]!.name },
        30,
      ),
  },
  "program renamed": {
    plant: (one) => rename(one, "software_name", program(one).software_name, "renamed"),
  },
  "network renumbered": { plant: (one) => rename(one, "probe_asn", network(one).probe_asn, "AS1") },
  "three days": { rows: 40_000, plant: (one) => lose(one, country(one), 0.1) },
  "few rows": {
    rows: 2_000,
    plant: (one) => lose(one, { software_name: one.service.programs[0]!.name }, 0.1),
  },
  "share: a program": { share: true, plant: (one) => fail(one, program(one), 0.4) },
  "share: a country": { share: true, plant: (one) => fail(one, country(one), 0.3) },
  "share: a release": { share: true, plant: (one) => fail(one, release(one), 0.3) },
  "quiet: nothing": { plant: () => undefined },
  "quiet: few rows": { rows: 2_000, plant: () => undefined },
  "quiet: growth": {
    plant: (one) => {
      lose(one, {}, 1.04);
      return undefined;
    },
  },
  "quiet: wandering networks": {
    plant: (one) => {
      for (const asn of one.service.networks)
        lose(one, { probe_asn: asn }, Math.exp(0.2 * one.draw.normal()));
      return undefined;
    },
  },
  "quiet: releases everywhere": {
    plant: ({ cells, service }) => {
      for (const { name, versions } of service.programs) {
        const own = cells.filter(({ where }) => where["software_name"] === name);
        const [rest, last] = [false, true].map((newest) => shareOf(own, versions.at(-1)!, newest));
        for (const cell of own) {
          const newest = cell.where["software_version"] === versions.at(-1);
          cell.is *= newest ? 1 + 0.6 * (rest! / last!) : 0.4;
        }
      }
      return undefined;
    },
  },
  "quiet: share": { share: true, plant: () => undefined },
};

function shareOf(own: readonly Cell[], version: string, newest: boolean): number {
  return own.reduce(
    (sum, { where, is }) => sum + ((where["software_version"] === version) === newest ? is : 0),
    0,
  );
}

/** Metrics explain_first, release_first, explain_three, quiet_share, calm_wrong; prints a table by kind. */
export function incidents(): Record<string, number> {
  const many = Number(process.env["SEEDS"] ?? 17);
  const from = Number(process.env["FROM"] ?? 0);
  const scores = Object.entries(KINDS).flatMap(([name, kind], at) =>
    !name.includes(process.env["KIND"] ?? "")
      ? []
      : Array.from({ length: many }, (_, seed) => score(name, kind, 1000 * at + seed + from)),
  );
  const rate = (some: readonly Score[], of: (one: Score) => boolean) =>
    some.length === 0 ? NaN : some.filter(of).length / some.length;
  console.table(
    Object.keys(KINDS).map((kind) => {
      const own = scores.filter((one) => one.kind === kind);
      return {
        kind,
        first: rate(own, ({ place }) => place === 1).toFixed(2),
        "above the noise": own.filter(({ visible }) => visible).length,
        "first of these": rate(
          own.filter(({ visible }) => visible),
          ({ place }) => place === 1,
        ).toFixed(2),
        three: rate(own, ({ place }) => place > 0 && place <= 3).toFixed(2),
        "calmly wrong": rate(own, ({ wrong }) => wrong).toFixed(2),
        ms: (own.reduce((sum, { ms }) => sum + ms, 0) / own.length).toFixed(0),
      };
    }),
  );
  const planted = scores.filter(({ quiet }) => !quiet);
  return {
    explain_first: rate(planted, ({ place }) => place === 1),
    release_first: rate(
      planted.filter(({ kind }) => kind.startsWith("release")),
      ({ place }) => place === 1,
    ),
    explain_first_visible: rate(
      planted.filter(({ visible }) => visible),
      ({ place }) => place === 1,
    ),
    explain_three: rate(planted, ({ place }) => place > 0 && place <= 3),
    quiet_share: rate(
      scores.filter(({ quiet }) => quiet),
      ({ place }) => place === 1,
    ),
    calm_wrong: rate(scores, ({ wrong }) => wrong),
  };
}

interface Score {
  readonly kind: string;
  readonly quiet: boolean;
  /** Of the planted cause, from 1; 0 where it isn't told; of a quiet case 1 where nothing was. */
  readonly place: number;
  readonly wrong: boolean;
  readonly ms: number;
  /** Whether what was planted is above the noise. */
  readonly visible: boolean;
}

function score(name: string, kind: Kind, seed: number): Score {
  const draw = drawn(seed);
  const rows = kind.rows ?? Math.exp(11 + 2.1 * draw.uniform());
  const made = serviceOf(draw, rows);
  const usual = made.cells.map(({ is, holds }) => ({ is, holds }));
  const planted = kind.plant({ ...made, draw });
  const loss = made.cells.reduce((sum, one) => sum + one.is * one.holds, 0);
  const cells = cellsOf(made.cells, draw, kind.share === true);
  const begun = performance.now();
  const answer = explainCells(cells);
  const ms = performance.now() - begun;
  const quiet = planted === undefined;
  const place = quiet
    ? Number(!answer.found)
    : answer.causes.findIndex((cause) => planted.some((one) => isRight(cause, one))) + 1;
  const wrong = quiet
    ? answer.found
    : (answer.found && place !== 1 && !answer.sentence.includes("can't tell whether")) ||
      cleared(
        answer,
        planted.map(({ where }) => where),
      );
  if (process.env["SHOW"] !== undefined && (wrong || place !== 1)) {
    console.log(`${name} ${seed} of ${Math.round(loss)}`, JSON.stringify(planted), answer.sentence);
  }
  const visible = quiet || kind.share === true || standsOut(made.cells, usual, planted);
  return { kind: name, quiet, place, wrong, ms, visible };
}

/**
 * Whether the first thing planted is above the noise, by what the generator knows: it takes more than
 * 14 in the logarithm of its likelihood ratio to be told from any of some ten thousand elements. What
 * a release lost is told from its program's other releases only where one stayed as it was.
 */
function standsOut(
  cells: readonly Cell[],
  usual: readonly { readonly is: number; readonly holds: number }[],
  planted: NonNullable<Planted>,
): boolean {
  const { where } = planted[0]!;
  const { software_version: version, ...program } = where;
  const whole = version !== undefined && Object.keys(program).length === 1;
  const sum = (some: readonly number[]) => some.reduce((all, one) => all + one, 0);
  const own = [...cells.keys()].filter((at) => holds(cells[at]!, where));
  const shorter = sum(own.map((at) => Math.abs(cells[at]!.holds - usual[at]!.holds)));
  if (shorter > 0) {
    const runs = sum(own.map((at) => cells[at]!.is));
    const part = Math.abs(cells[own[0]!]!.holds / usual[own[0]!]!.holds - 1);
    return (part ** 2 * runs) / (2 * 0.4 ** 2) > 14;
  }
  const beside = whole ? [...cells.keys()].filter((at) => holds(cells[at]!, program)) : own;
  const lost = sum(own.map((at) => usual[at]!.is - cells[at]!.is));
  // Runs scatter by twice what a Poisson process does, on both sides.
  const noise = 2 * sum(beside.map((at) => cells[at]!.was + cells[at]!.is));
  if (noise === 0 || lost ** 2 / (2 * noise) < 14) return noise === 0;
  if (!whole) return true;
  const [was, is] = [
    sum(beside.map((at) => cells[at]!.was)),
    sum(beside.map((at) => cells[at]!.is)),
  ];
  const stayed = beside.filter(
    (at) => cells[at]!.where["software_version"]!.endsWith(".0") && !own.includes(at),
  );
  const left = sum(stayed.map((at) => cells[at]!.was));
  return own.some((at) => cells[at]!.is === 0) || ((1 - is / was) * left) ** 2 / (4 * left * 2) > 2;
}

function isRight(
  { where, change }: Explanation["causes"][number],
  planted: { readonly where: Where; readonly up?: true },
): boolean {
  const wanted = Object.entries(planted.where);
  const { probe_asn: asn } = planted.where;
  const named = Object.entries(where).filter(([key]) => !(asn !== undefined && key === "probe_cc"));
  return (
    named.length === wanted.length &&
    wanted.every(([key, value]) => {
      const found = where[key];
      return found === value || (Array.isArray(found) && found.includes(value));
    }) &&
    change > 0 === (planted.up === true)
  );
}

/** Whether the move of the guilty program is told as one that lost nothing. */
function cleared({ sentence }: Explanation, causes: readonly Where[]): boolean {
  const [, moves = ""] = sentence.split("upgraded:");
  return (
    /\blost\b/.test(moves) &&
    causes.some(
      ({ software_name: name, software_version: version }) =>
        name !== undefined && version !== undefined && moves.includes(`${name} software_version`),
    )
  );
}

function serviceOf(draw: Draw, rows: number): { cells: Cell[]; service: Service } {
  const programs = ["android", "unattended", "ios", "desktop", "cli"].map((name, at) => {
    const minor = 2 + at;
    const newest = 0.05 + 0.2 * draw.uniform();
    const adopted = 0.2 + 0.4 * draw.uniform();
    const old = 0.1 + 0.1 * draw.uniform();
    return {
      name: `probe-${name}`,
      versions: [`3.${minor}.0`, `3.${minor}.1`, `3.${minor + 1}.0`],
      // An old release that stays, one that users leave, and the newest that they go to.
      before: [old, 1 - old - newest, newest],
      after: [old, (1 - old - newest) * (1 - adopted), newest + (1 - old - newest) * adopted],
      size: Math.exp(0.7 * draw.normal()) * [3, 2, 1.5, 1, 0.7][at]!,
    };
  });
  const countries = Array.from({ length: 25 }, (_, at) => `C${at}`);
  const networks: string[] = [];
  const cells: Cell[] = [];
  for (const [at, cc] of countries.entries()) {
    for (let k = 0; k < 3; k += 1) {
      const asn = `AS${100 * (at + 1) + k}`;
      networks.push(asn);
      const size = 1 / (at + 2) / (k + 1);
      const wander = Math.exp(0.03 * draw.normal());
      for (const program of programs) {
        const taste = Math.exp(0.4 * draw.normal());
        for (const [kind, length] of Object.entries(TESTS)) {
          for (const [v, version] of program.versions.entries()) {
            const runs = size * program.size * taste * (kind === "web" ? 2 : 1);
            const where = {
              software_name: program.name,
              software_version: version,
              probe_cc: cc,
              probe_asn: asn,
              test_name: kind,
            };
            const held = length * (program.name === "probe-cli" ? 2 : 1);
            cells.push({
              where,
              held,
              holds: held,
              failed: 0.03,
              fails: 0.03,
              was: runs * program.before[v]!,
              is: runs * program.after[v]! * wander,
            });
          }
        }
      }
    }
  }
  const scale = rows / cells.reduce((sum, { was, held }) => sum + was * held, 0);
  for (const cell of cells) {
    cell.was *= scale;
    cell.is *= scale;
  }
  return { cells, service: { programs, countries, networks } };
}

function cellsOf(all: readonly Cell[], draw: Draw, share: boolean): ChangeCells {
  const sides = all
    .map((cell) => {
      const [r0, r1] = [draw.count(cell.was, 2), draw.count(cell.is, 2)];
      const rows = (runs: number, held: number) =>
        runs === 0
          ? 0
          : Math.max(runs, Math.round(runs * held * (1 + (0.4 * draw.normal()) / Math.sqrt(runs))));
      const [m0, m1] = [rows(r0, cell.held), rows(r1, cell.holds)];
      const bad = (n: number, p: number) => Math.min(n, draw.count(n * p, 1.5));
      return { cell, r0, r1, m0, m1, b0: bad(m0, cell.failed), b1: bad(m1, cell.fails) };
    })
    .filter(({ m0, m1 }) => m0 + m1 > 0);
  const values = NAMES.map((name) => [...new Set(sides.map(({ cell }) => cell.where[name]!))]);
  const codes = NAMES.map((name, at) => {
    const places = new Map(values[at]!.map((value, place) => [value, place]));
    return Int32Array.from(sides, ({ cell }) => places.get(cell.where[name]!)!);
  });
  const column = (of: "r0" | "r1" | "m0" | "m1" | "b0" | "b1") =>
    Float64Array.from(sides, (one) => one[of]);
  return {
    kind: share ? "rate" : "flow",
    names: NAMES,
    values,
    ratio: 1,
    many: "measurements",
    leaves: { sizes: values.map(({ length }) => length), codes },
    before: column("m0"),
    after: column("m1"),
    partBefore: column("b0"),
    partAfter: column("b1"),
    ...(!share && { runs: { before: column("r0"), after: column("r1") } }),
    ...(share
      ? { label: "Share", unit: "share" }
      : { label: "Measurements", unit: "measurements" }),
    earlier: between("2026-05-01", "2026-05-08"),
    later: between("2026-05-08", "2026-05-15"),
    origin: {
      sql: "",
      parameters: {},
      source: "a benchmark",
      server: "",
      notes: [],
      rowsRead: 0,
      bytesRead: 0,
      seconds: 0,
      askedAt: new Date(0),
      range: between("2026-05-08", "2026-05-15"),
    },
  };
}

type Draw = ReturnType<typeof drawn>;

/** Random numbers of a seed (mulberry32). */
function drawn(seed: number) {
  let state = seed >>> 0;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const normal = (): number =>
    Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const poisson = (mean: number): number => {
    if (mean > 30) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
    const left = Math.exp(-mean);
    let at = 0;
    for (let p = uniform(); p > left && at < 200; at += 1) p *= uniform();
    return at;
  };
  return {
    uniform,
    normal,
    pick: <T>(list: readonly T[]): T => list[Math.floor(uniform() * list.length)]!,
    /** A count of a mean, whose variance is so many times the mean's. */
    count: (mean: number, dispersion: number): number =>
      mean <= 0
        ? 0
        : poisson(
            mean *
              Math.exp(
                Math.sqrt(Math.log(1 + (dispersion - 1) / Math.max(mean, 1))) *
                  normal() *
                  Math.min(1, mean),
              ),
          ),
  };
}
