/**
 * Seeded incidents of a made-up service of users (users.ts), asked as cells: one or two things planted,
 * or nothing. SEEDS cases of each kind from the seed FROM; KIND takes those whose name holds it; SHOW=1
 * prints the answers that miss.
 *
 * The judge reads what a reader takes from the answer. Right is a first cause whose rows are the planted
 * ones (an overlap of 0.85 of the measurements) in the planted direction, its amount within two of its
 * intervals and a tenth. Wrong is another first cause, another amount, the move of a guilty program
 * told as harmless, parts that don't add up, or something named where nothing was planted.
 */
import { performance } from "node:perf_hooks";
import { explainCells, type Cause } from "../../src/change/cells/explain.js";
import { leavesBy } from "../../src/change/cells/cube.js";
import { seeded } from "../../test/support/change/draws.js";
import {
  cellsOf,
  failures,
  has,
  NAMES,
  serviceOf,
  type Run,
  type Service,
  type ServiceOptions,
  type Value,
  type Where,
} from "../../test/support/change/users.js";

/**
 * A cause: its rows, the measurements and the runs that it
 * brought (or, below 0, took); a rate that it set.
 */
interface Planted {
  readonly where: Where;
  readonly up: boolean;
  readonly amount: number;
  readonly runs: number;
  readonly rate?: number;
}

interface Kind extends Partial<ServiceOptions> {
  /** Changes the runs; undefined where the service has no such rows. */
  readonly plant: (service: Service) => readonly Planted[] | undefined;
}

const testOf = ({ values }: Run) => values[NAMES.indexOf("test_name")]!;
const isAfter = ({ day }: Run) => day >= 0;
const lengths = (runs: readonly Run[]) => runs.reduce((sum, { length }) => sum + length, 0);

/** Puts others in the place of the second week's runs of these values. */
function change(service: Service, where: Where, other: (run: Run) => readonly Run[]): Planted[] {
  const own = service.runs.filter((run) => isAfter(run) && has(run, where));
  const changed = new Map(own.map((run) => [run, other(run)]));
  service.runs = service.runs.flatMap((run) => changed.get(run) ?? [run]);
  const now = [...changed.values()].flat();
  const amount = lengths(now) - lengths(own);
  return [{ where, up: amount > 0, amount, runs: now.length - own.length }];
}

const times = (service: Service, where: Where, factor: number) =>
  change(service, where, (run) => {
    const many = Math.floor(factor) + Number(service.draw.uniform() < factor % 1);
    return Array.from({ length: many }, () => run);
  });

const stretch = (service: Service, where: Where, factor: number) =>
  change(service, where, (run) => [
    { ...run, length: Math.max(1, Math.round(run.length * factor)) },
  ]);

const fail = (service: Service, where: Where, rate: number) =>
  change(service, where, (run) => [
    { ...run, failed: failures(service.draw, run.length, rate) },
  ]).map((one) => ({ ...one, up: true, rate }));

const rename = (service: Service, name: (typeof NAMES)[number], from: Value, to: string) => {
  const at = NAMES.indexOf(name);
  const gone = service.runs.filter((run) => isAfter(run) && has(run, { [name]: from }));
  change(service, { [name]: from }, (run) => [{ ...run, values: run.values.with(at, to) }]);
  const amount = lengths(gone);
  return [
    { where: { [name]: from }, up: false, amount: -amount, runs: -gone.length },
    { where: { [name]: to }, up: true, amount, runs: gone.length },
  ];
};

/** A value of a column that has from `least` to `most` of the runs of these values. */
function valueOf(
  { runs, draw }: Service,
  name: (typeof NAMES)[number],
  least: number,
  most = 0.7,
  within: Where = {},
): Where | undefined {
  const own = runs
    .filter((run) => has(run, within))
    .map(({ values }) => values[NAMES.indexOf(name)]);
  const fits = [...new Set(own)].filter((value) => {
    const part = own.filter((one) => one === value).length / own.length;
    return value && part >= least && part <= most;
  });
  return fits.length === 0 ? undefined : { ...within, [name]: draw.pick(fits)! };
}

/** The newest release of a program with a fair part of the runs, which some users have. */
function newest(service: Service, place = -1): Where | undefined {
  const after = service.runs.filter(isAfter);
  const fits = service.programs.flatMap(({ name, versions }) => {
    const own = after.filter((run) => has(run, { software_name: name }));
    const where = { software_name: name, software_version: versions.at(-1)! };
    const part = own.filter((run) => has(run, where)).length / own.length;
    const old = { ...where, software_version: versions.at(place)! };
    return own.length > 0.1 * after.length && part > 0.12 ? [old] : [];
  });
  return fits.length === 0 ? undefined : service.draw.pick(fits);
}

type Choice = (service: Service) => Where | undefined;
const planted =
  (choose: Choice, then: (service: Service, where: Where) => readonly Planted[]): Kind["plant"] =>
  (service) => {
    const where = choose(service);
    return where && then(service, where);
  };
const both =
  (...plants: readonly Kind["plant"][]): Kind["plant"] =>
  (service) => {
    const all = plants.map((plant) => plant(service));
    return all.includes(undefined) ? undefined : all.flatMap((one) => one!);
  };
/** Changes the runs by what is no incident. */
const nothing =
  (plant?: (service: Service) => unknown): Kind["plant"] =>
  (service) => {
    const done = plant?.(service);
    return plant !== undefined && done === undefined ? undefined : [];
  };
const program: Choice = (one) => valueOf(one, "software_name", 0.08, 0.6);
const country: Choice = (one) => valueOf(one, "probe_cc", 0.05, 0.5);
const test: Choice = (one) => valueOf(one, "test_name", 0.06, 0.8);
const network: Choice = (one) => valueOf(one, "probe_asn", 0.02);
const inOne =
  (choose: Choice, name: "probe_cc" | "test_name"): Choice =>
  (one) => {
    const where = choose(one);
    return where && valueOf(one, name, 0.08, 0.7, where);
  };
const kept = ({ draw }: Service) => 0.05 + 0.5 * draw.uniform();
const loses = (factor?: number) => (one: Service, where: Where) =>
  times(one, where, factor ?? kept(one));
const shortens = (factor?: number) => (one: Service, where: Where) =>
  stretch(one, where, factor ?? kept(one));
const fails = (rate: number) => (one: Service, where: Where) => fail(one, where, rate);
const FEW = 2_500;

const usersOf = (runs: readonly Run[]): Run[][] =>
  [...leavesBy(runs.map(({ user }) => user)).values()].map((own) => own.map((at) => runs[at]!));

/** The runs of the user with most of them. */
const heaviest = (runs: readonly Run[]) =>
  usersOf(runs).reduce((a, b) => (b.length > a.length ? b : a));

const KINDS: Readonly<Record<string, Kind>> = {
  "release: runs end early": { plant: planted(newest, shortens()) },
  "release: early in one country": { plant: planted(inOne(newest, "probe_cc"), shortens(0.25)) },
  "release: longer runs": { plant: planted(newest, shortens(2)) },
  "release: no measurements": { plant: planted(newest, loses(0.02)) },
  "release: crash": { plant: planted(newest, loses()) },
  "release: loses a test": { plant: planted(inOne(newest, "test_name"), loses(0)) },
  "release: stops in a country": { plant: planted(inOne(newest, "probe_cc"), loses(0)) },
  "release: an old one shut out": { plant: planted((one) => newest(one, 1), loses(0)) },
  "program lost": { plant: planted(program, loses()) },
  "program gone": { plant: planted(program, loses(0)) },
  "program's runs shorter": { plant: planted(program, shortens(0.5)) },
  "test's runs shorter": { plant: planted(() => ({ test_name: "web" }), shortens(0.5)) },
  "country lost": { plant: planted(country, loses()) },
  "network lost": { plant: planted(network, loses(0.1)) },
  "test lost": { plant: planted(test, loses()) },
  "test gone": { plant: planted(test, loses(0)) },
  "program in a country": { plant: planted(inOne(program, "probe_cc"), loses(0.1)) },
  "test in a country": { plant: planted(inOne(test, "probe_cc"), loses(0.1)) },
  "the whole falls": { plant: (one) => times(one, {}, 0.1 + 0.6 * one.draw.uniform()) },
  "the whole rises": { plant: (one) => times(one, {}, 1.5 + one.draw.uniform()) },
  "two: release and country": {
    plant: both(planted(country, loses(0.2)), planted(newest, shortens(0.4))),
  },
  "two: test and country": { plant: both(planted(test, loses(0.3)), planted(country, loses(0.2))) },
  "two: down and up": { plant: both(planted(program, loses(0.4)), planted(country, loses(2.5))) },
  "duplicates of all": { plant: (one) => stretch(one, {}, 2) },
  "duplicates of a program": { plant: planted(program, shortens(2)) },
  "flood by one probe": {
    plant: (service) => {
      const one = service.draw.pick(service.runs.filter(isAfter));
      const runs = Math.round((0.1 + 0.3 * service.draw.uniform()) * service.runs.length);
      for (let at = 0; at < runs; at += 1) service.runs.push({ ...one, day: at % 7 });
      const where = Object.fromEntries(NAMES.map((name, at) => [name, one.values[at]!]));
      return [{ where, up: true, amount: runs * one.length, runs }];
    },
  },
  "program renamed": {
    plant: planted(program, (one, { software_name: name }) =>
      rename(one, "software_name", name!, "renamed"),
    ),
  },
  "network renumbered": {
    plant: planted(network, (one, { probe_asn: name }) =>
      rename(one, "probe_asn", name!, "999999"),
    ),
  },
  "three days": { short: true, plant: planted(program, loses(0.1)) },
  "few rows: a program": {
    rows: FEW,
    plant: planted((one) => valueOf(one, "software_name", 0.15), loses(0.1)),
  },
  "few rows: a country": {
    rows: FEW,
    plant: planted((one) => valueOf(one, "probe_cc", 0.15), loses(0.05)),
  },
  "share: a program": { share: true, plant: planted(program, fails(0.4)) },
  "share: a country": { share: true, plant: planted(country, fails(0.4)) },
  "share: a release": { share: true, plant: planted(newest, fails(0.4)) },
  "share: a test in a country": {
    share: true,
    plant: planted(inOne(test, "probe_cc"), fails(0.5)),
  },
  "quiet: nothing": { plant: nothing() },
  "quiet: few rows": { rows: FEW, plant: nothing() },
  "quiet: three days": { short: true, plant: nothing() },
  "quiet: wandering networks": { wander: 0.2, plant: nothing() },
  "quiet: growth": { plant: nothing((one) => times(one, {}, 1.04)) },
  "quiet: holiday": { plant: nothing((one) => times(one, {}, 0.94)) },
  "quiet: clocks change": {
    plant: nothing(
      planted(country, (one, where) =>
        change(one, where, (run) => (run.day === 2 && one.draw.uniform() < 1 / 24 ? [] : [run])),
      ),
    ),
  },
  "quiet: new program": {
    plant: nothing((service) => {
      const own = service.runs.filter(
        (run) => isAfter(run) && run.values[0] === service.programs[0]!.name,
      );
      const few = own.filter(() => service.draw.uniform() < 0.05);
      service.runs.push(
        ...few.map((run) => ({ ...run, values: ["brandnew", "0.1", ...run.values.slice(2)] })),
      );
      return true;
    }),
  },
  "quiet: releases everywhere": { released: [-1, 3], plant: nothing() },
  "quiet: heaviest user goes": {
    plant: nothing((service) => {
      const { user } = heaviest(service.runs)[0]!;
      service.runs = service.runs.filter((run) => !isAfter(run) || run.user !== user);
      return true;
    }),
  },
  "quiet: heaviest user comes": {
    plant: nothing((service) => {
      const { user } = heaviest(service.runs)[0]!;
      service.runs = service.runs.filter((run) => isAfter(run) || run.user !== user);
      return true;
    }),
  },
  "quiet: share": { share: true, plant: nothing() },
};

/** Metrics explain_first, release_first, explain_first_visible, explain_three, quiet_share, quiet_may_be, calm_wrong; prints a table by kind. */
export function incidents(): Record<string, number> {
  const [many, from] = [Number(process.env["SEEDS"] ?? 13), Number(process.env["FROM"] ?? 0)];
  const names = Object.keys(KINDS).filter((name) => name.includes(process.env["KIND"] ?? ""));
  const scores = names.flatMap((name) =>
    Array.from({ length: many }, (_, at) => score(name, KINDS[name]!, from + at)),
  );
  const rate = (some: readonly Score[], of: (one: Score) => boolean) =>
    some.length === 0 ? NaN : some.filter(of).length / some.length;
  const first = ({ place }: Score) => place === 1;
  const visible = (one: Score) => one.visible;
  console.table(
    names.map((kind) => {
      const own = scores.filter((one) => one.kind === kind);
      return {
        kind,
        first: rate(own, first).toFixed(2),
        "above the noise": own.filter(visible).length,
        "first of these": rate(own.filter(visible), first).toFixed(2),
        three: rate(own, ({ place }) => place > 0 && place <= 3).toFixed(2),
        "nothing named": rate(own, ({ found }) => !found).toFixed(2),
        "may be": rate(own, ({ guess }) => guess).toFixed(2),
        "calmly wrong": rate(own, ({ wrong }) => wrong).toFixed(2),
        "another cause too": rate(own, ({ extra }) => extra).toFixed(2),
        ms: (own.reduce((sum, { ms }) => sum + ms, 0) / own.length).toFixed(0),
      };
    }),
  );
  const told = scores.filter(({ kind }) => !kind.startsWith("quiet"));
  return {
    explain_first: rate(told, first),
    release_first: rate(
      told.filter(({ kind }) => kind.startsWith("release")),
      first,
    ),
    explain_first_visible: rate(told.filter(visible), first),
    explain_three: rate(told, ({ place }) => place > 0 && place <= 3),
    quiet_share: rate(
      scores.filter(({ kind }) => kind.startsWith("quiet")),
      first,
    ),
    quiet_may_be: rate(
      scores.filter(({ kind }) => kind.startsWith("quiet")),
      ({ guess }) => guess,
    ),
    calm_wrong: rate(scores, ({ wrong }) => wrong),
    named_first: told.filter((one) => one.found && first(one)).length,
    another_cause: rate(scores, ({ extra }) => extra),
  };
}

interface Score {
  readonly kind: string;
  /** Of the planted cause, from 1; 0 where it isn't named; of a quiet case 1 where nothing is. */
  readonly place: number;
  readonly found: boolean;
  /** Whether causes only may be. */
  readonly guess: boolean;
  readonly wrong: boolean;
  /** Whether a cause that nobody planted is named beside. */
  readonly extra: boolean;
  readonly visible: boolean;
  readonly ms: number;
}

function score(kind: string, { plant, ...options }: Kind, seed: number): Score {
  for (let attempt = 0; ; attempt += 1) {
    const draw = seeded(
      [...kind].reduce(
        (hash, sign) => (hash * 31 + sign.charCodeAt(0)) | 0,
        977 * seed + 104_729 * attempt,
      ),
    );
    const service = serviceOf(draw, { rows: 4_000 * Math.exp(5 * draw.uniform()), ...options });
    const usual = [...service.runs];
    const causes = plant(service);
    if (causes === undefined) continue;
    const share = options.share === true;
    const cells = cellsOf(service.runs, share);
    const begun = performance.now();
    const answer = explainCells(cells);
    const ms = performance.now() - begun;
    const right = answer.causes.map((cause) =>
      causes.find((one) => isRight(service.runs, one, cause)),
    );
    const place =
      causes.length === 0 ? Number(!answer.found) : right.findIndex((one) => one !== undefined) + 1;
    const sum = answer.causes.reduce((all, one) => all + one.change, answer.rest.change);
    const whole = (answer.after ?? 0) - (answer.before ?? 0);
    const visible = causes.length === 0 || causes.some((one) => standsOut(usual, one));
    const wrong =
      Math.abs(sum - whole) > 1e-6 * Math.abs(whole) + 1e-6 ||
      (answer.found && place !== 1 && !answer.sentence.includes("can't tell whether")) ||
      right.some((one, at) => one !== undefined && !share && !isAmount(one, answer.causes[at]!)) ||
      (visible && cleared(answer.sentence, causes));
    const guess = !answer.found && answer.causes.length > 0;
    const extra = causes.length > 0 && right.slice(1).includes(undefined);
    if (process.env["SHOW"] !== undefined && (wrong || extra || (visible && place !== 1))) {
      const notes = [
        wrong ? "WRONG" : "",
        extra ? "EXTRA" : "",
        visible ? "" : "below the noise",
      ].join(" ");
      console.log(`${kind} ${seed} ${notes}`, JSON.stringify(causes), answer.sentence, "\n");
    }
    return { kind, place, found: answer.found, guess, wrong, extra, visible, ms };
  }
}

/** Whether a cause is of the planted rows, in their direction: of a flood by one probe also wider rows, of which it is most. */
function isRight(runs: readonly Run[], { where, up, amount }: Planted, cause: Cause): boolean {
  const of = (some: (run: Run) => boolean) => lengths(runs.filter(some));
  const [own, named] = [of((run) => has(run, where)), of((run) => has(run, cause.where))];
  const shared = of((run) => has(run, where) && has(run, cause.where));
  const same = NAMES.every((name) => String(where[name]) === String(cause.where[name]));
  const most =
    Object.keys(where).length === NAMES.length && Math.abs(cause.change / amount - 1) < 0.1;
  return (
    cause.change > 0 === up &&
    (same || shared > 0.85 * (own + named - shared) || (most && shared === own))
  );
}

/** Whether its amount is right: what only may be claims none, and "the rest of" leaves out rows of another. */
function isAmount({ amount }: Planted, { change, low, high, grade, text }: Cause): boolean {
  if (grade === "may be" || text.startsWith("the rest of ")) return true;
  return Math.abs(change - amount) <= high - low + 0.1 * Math.abs(amount);
}

/** Whether the move of the guilty release's program is told as harmless. */
function cleared(sentence: string, causes: readonly Planted[]): boolean {
  const [, moves = ""] = sentence.split("upgraded:");
  return causes.some(
    ({ where: { software_name: name, software_version: version } }) =>
      name && version && moves.includes(`${String(name)} `),
  );
}

/** The logarithm of the likelihood ratio that tells one of some ten thousand elements from chance. */
const CLEAR = 16;
/** Countries and networks wander by so much from week to week. */
const WANDERS = 0.05;

/**
 * Whether the best test that knows where to look finds the cause: for a loss or rise of runs z² / 2
 * must exceed {@link CLEAR}, where the runs scatter as their users come and go (the sum of squares of
 * users' changes by that of their runs, the larger of the whole's and of the cause's own), and no user
 * of the service weighs half as much; for a length or a share by how runs, or measurements, scatter.
 * What a release lost is measured against its whole program, as its users may have gone on.
 */
function standsOut(usual: readonly Run[], { where, amount, runs, rate }: Planted): boolean {
  const { software_version: version, ...wider } = where;
  const own = usual.filter((run) => has(run, where));
  const now = own.filter(isAfter);
  if (rate !== undefined) {
    const [all, failed] = [lengths(now), now.reduce((sum, one) => sum + one.failed, 0)];
    return ((rate - failed / all) ** 2 * all) / (4 * rate * (1 - rate)) > CLEAR;
  }
  if (runs === 0) {
    const kinds = [...new Set(now.map(testOf))].map((test) =>
      now.filter((one) => testOf(one) === test),
    );
    const squares = kinds.reduce((sum, some) => {
      const mean = lengths(some) / some.length;
      return sum + some.reduce((all, { length }) => all + (length - mean) ** 2, 0);
    }, 0);
    return amount ** 2 / (4 * (squares + (0.02 * lengths(now) ** 2) / now.length)) > CLEAR;
  }
  const scope = usual.filter((run) => has(run, version === undefined ? where : wider));
  const scatter = (some: readonly Run[]) => {
    const squares = usersOf(some).map((all) => (2 * all.filter(isAfter).length - all.length) ** 2);
    return squares.reduce((sum, one) => sum + one, 0) / some.length || 1;
  };
  const variance =
    Math.max(scatter(usual), scatter(scope)) * scope.length + (WANDERS * scope.length) ** 2 / 4;
  return runs ** 2 / (2 * variance) > CLEAR && Math.abs(runs) > heaviest(usual).length;
}
