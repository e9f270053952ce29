import { refuseUnknown } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { answerOrigin, type Database } from "../database/database.js";
import type { MeasureColumn, Origin } from "../result/origin.js";
import { Result, type Value } from "../result/result.js";
import { checkRange, last, type TimeRange } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { readInstances, WHOLE_TABLE, type Instance } from "./instances.js";
import { DAY, HOUR } from "../time/span.js";

/** Days between the ages of neighbours that are staggered: "about one week", so 4 to 10. */
const STAGGER = { days: 7, tolerance: 3 };

/** Options of `lab.testHelpers.rotation`. */
export interface RotationOptions {
  /** The rotations to look at; live instances are always in. Default: 6 months before `lab.now`. */
  readonly range?: TimeRange;
  /**
   * Rotations fewer hours apart are too close for DNS to follow. Default 24: typical times to live
   * are one to five days (RFC 1912, section 2.2), so a day is the least after which resolvers have
   * asked again. With shorter records in your zone, pass their time to live.
   */
  readonly closestHours?: number;
  /** Stops the query at the server; default: the interrupt of the running cell. */
  readonly signal?: AbortSignal;
}

/** A row of `instances`. */
export type InstanceRow = {
  name: string;
  /** `<rdn>.<dns_zone>` */
  host: string;
  region: string;
  /** `live` until draining_at is set; `destroyed` only where the table has destroyed_at. */
  state: "live" | "draining" | "destroyed";
  made_at: Date | null;
  /** When it began to drain, or now. */
  until: Date;
  /** Days from `made_at` to `until`; null where unknown. */
  age_days: number | null;
  /** True for the live instance that the rotation tool takes next: the oldest. */
  next: boolean;
};

/** A row of `rotations`: an instance that began to drain. */
export type RotationRow = {
  t: Date;
  host: string;
  name: string;
  /** Hours since the rotation before it; null for the first one known. */
  hours: number | null;
  too_close: boolean;
};

/** Differences between the ages of live instances. */
export interface Stagger {
  /** Days between neighbours, from the youngest on. */
  readonly gapDays: readonly number[];
  /** True where all are 7 ± 3; null where fewer than two ages are known. */
  readonly staggered: boolean | null;
}

/** When the next instance may be rotated. */
export interface RotationTurn {
  /** null where the next, or the last change of DNS, is unknown. */
  readonly now: boolean | null;
  /** `closestHours` after a helper was made or began to drain; null where unknown. */
  readonly from: Date | null;
  /** The moment from which the ages stay staggered too: 4 days after the youngest was made. */
  readonly staggeredFrom: Date | null;
}

/** The rotation of the test helpers. */
export interface Rotation {
  /** A row per instance, name descending. */
  readonly instances: Result<InstanceRow>;
  /** A row per rotation of the range, in order of time. */
  readonly rotations: Result<RotationRow>;
  /** The oldest live instance; null where there is none, or an age is unknown. */
  readonly next: InstanceRow | null;
  readonly turn: RotationTurn;
  readonly stagger: Stagger;
  /** All of it in sentences. */
  readonly findings: readonly string[];
}

/** `lab.testHelpers.rotation`: see {@link TestHelpers.rotation}. */
export async function rotation(
  database: Database,
  now: Date,
  options: RotationOptions = {},
): Promise<Rotation> {
  const action = "look at rotations";
  refuseUnknown(options, ["range", "closestHours", "signal"], action);
  const { closestHours = 24, signal } = options;
  if (!Number.isFinite(closestHours) || closestHours < 0) {
    throw new ProbelabError(
      `Can't ${action} with closestHours: ${String(closestHours)}: pass a number from 0, such as closestHours: 24.`,
    );
  }
  const range = options.range ? checkRange(options.range, action) : last("6 months", { now });
  const read = await readInstances(database, { action, signal });
  const instances = instanceRows(read.instances, now);
  const live = instances.filter(({ state }) => state === "live");
  const next = live.find((row) => row.next) ?? null;

  const rotations = rotationRows(read.instances, closestHours).filter(
    ({ t }) => t >= range.start && t < range.end,
  );
  const latest = (times: readonly (Date | null)[]) =>
    times.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null);
  // An instance that is made or begins to drain changes DNS.
  const changed = latest(read.instances.flatMap(({ madeAt, drainingAt }) => [madeAt, drainingAt]));
  const youngest = latest(live.map((row) => row.made_at));
  const from = changed && new Date(+changed + closestHours * HOUR);
  const turn: RotationTurn = {
    now: next === null || from === null ? null : now >= from,
    from,
    staggeredFrom: youngest && new Date(+youngest + (STAGGER.days - STAGGER.tolerance) * DAY),
  };

  const ages = live.flatMap((row) => row.age_days ?? []).sort((a, b) => a - b);
  const gapDays = ages.slice(1).map((age, index) => age - ages[index]!);
  const isWithin = (gap: number): boolean => Math.abs(gap - STAGGER.days) <= STAGGER.tolerance;
  const stagger = { gapDays, staggered: gapDays.length === 0 ? null : gapDays.every(isWithin) };

  const { name, columns } = read.table;
  const origin = {
    ...answerOrigin(database, read, range, read.answer),
    reductions: [],
    notes: [
      WHOLE_TABLE,
      ...(columns.has("created_at")
        ? []
        : [`${name} has no column created_at: ages come from the names.`]),
      ...(columns.has("destroyed_at")
        ? []
        : [`${name} has no column destroyed_at: whether a draining one is gone is unknown.`]),
    ],
  };
  const isShown = ({ state, until }: InstanceRow) => state === "live" || until >= range.start;
  return {
    instances: await resultOf(
      instances.filter(isShown),
      ["name", "host", "region", "state", "made_at", "until", "age_days", "next"],
      {
        dimensions: ["name", "state"],
        measure: { name: "age_days", label: "Age", unit: "days" },
      },
      origin,
    ),
    rotations: await resultOf(
      rotations,
      ["t", "host", "name", "hours", "too_close"],
      {
        dimensions: ["host"],
        measure: { name: "hours", label: "Hours since the rotation before", unit: "hours" },
      },
      origin,
    ),
    next,
    turn,
    stagger,
    findings: [
      `${live.length} of ${instances.length} test helpers are live.`,
      nextText(next, live),
      staggerText(stagger),
      ...rotationTexts(rotations, closestHours, range.timeZone),
      turnText(turn, { now, changed, timeZone: range.timeZone }),
    ],
  };
}

function instanceRows(instances: readonly Instance[], now: Date): InstanceRow[] {
  const live = instances.filter(({ drainingAt, destroyedAt }) => !drainingAt && !destroyedAt);
  // Where one age is unknown, so is the oldest.
  const [oldest] = live.every(({ madeAt }) => madeAt !== null)
    ? live.sort((a, b) => Number(a.madeAt) - Number(b.madeAt) || (a.name < b.name ? -1 : 1))
    : [];
  return instances.map((each) => {
    const { madeAt, drainingAt, destroyedAt } = each;
    const until = drainingAt ?? destroyedAt ?? now;
    return {
      name: each.name,
      host: hostOf(each),
      region: each.region,
      state: destroyedAt ? "destroyed" : drainingAt ? "draining" : "live",
      made_at: madeAt,
      until,
      age_days: madeAt === null ? null : (+until - +madeAt) / DAY,
      next: each === oldest,
    };
  });
}

function rotationRows(instances: readonly Instance[], closestHours: number): RotationRow[] {
  const drained = instances.flatMap((each) =>
    each.drainingAt === null ? [] : [{ ...each, t: each.drainingAt }],
  );
  drained.sort((a, b) => +a.t - +b.t || (a.name < b.name ? -1 : 1));
  return drained.map((each, index) => {
    const before = drained[index - 1];
    const hours = before === undefined ? null : (+each.t - +before.t) / HOUR;
    const tooClose = hours !== null && hours < closestHours;
    return { t: each.t, host: hostOf(each), name: each.name, hours, too_close: tooClose };
  });
}

function hostOf({ rdn, dnsZone }: Instance): string {
  return `${rdn}.${dnsZone}`;
}

async function resultOf<Row extends Readonly<Record<string, Value>>>(
  rows: readonly Row[],
  columns: readonly (keyof Row & string)[],
  { dimensions, measure }: { readonly dimensions: readonly string[]; readonly measure: Named },
  origin: Omit<Origin, "columns">,
): Promise<Result<Row>> {
  const aq = await import("arquero");
  const column = (name: string) => rows.map((row) => row[name]);
  return new Result(aq.table(columns.map((name) => [name, column(name)])), {
    ...origin,
    columns: {
      dimensions: dimensions.map((name) => ({
        name,
        order: [...new Set(column(name) as string[])],
      })),
      measures: [{ ...measure, additive: false, missing: "gap" }],
    },
  });
}

type Named = Pick<MeasureColumn, "name" | "label" | "unit">;

function nextText(next: InstanceRow | null, live: readonly InstanceRow[]): string {
  if (next !== null) {
    return `Next to rotate: ${next.name} (${next.host}), the oldest live one, ${(next.age_days ?? 0).toFixed(1)} days old.`;
  }
  return live.length === 0
    ? "No test helper is live, so there is none to rotate."
    : "The oldest live test helper is unknown: their names don't all end in a time (YYYYMMDDHHMMSS).";
}

function staggerText({ gapDays, staggered }: Stagger): string {
  if (staggered === null) return "Fewer than two live ages are known, so none can be staggered.";
  const gaps = gapDays.map((gap) => gap.toFixed(1)).join(", ");
  return `The ages of the live ones lie ${gaps} days apart: ${staggered ? "" : "not "}staggered by ${STAGGER.days} ± ${STAGGER.tolerance} days.`;
}

function rotationTexts(
  rotations: readonly RotationRow[],
  closestHours: number,
  timeZone: string,
): string[] {
  const close = rotations.filter((row) => row.too_close);
  if (close.length === 0) return [`No two rotations were less than ${closestHours} hours apart.`];
  return close.map(
    ({ t, name, host, hours }) =>
      `${name} (${host}) began to drain at ${formatInstant(t, timeZone)} ${timeZone}, ${span(hours ?? 0)} after the rotation before it: less than ${closestHours} hours are too close for DNS to follow.`,
  );
}

function turnText(
  turn: RotationTurn,
  {
    now,
    changed,
    timeZone,
  }: { readonly now: Date; readonly changed: Date | null; readonly timeZone: string },
): string {
  if (turn.now === null || turn.from === null || changed === null) {
    return "Can't tell whether the next may be rotated now: ask whoever runs the rotation tool when it ran last.";
  }
  const at = (time: Date) => `${formatInstant(time, timeZone).slice(0, 16)} ${timeZone}`;
  const ago = `DNS changed ${span((+now - +changed) / HOUR)} ago.`;
  const { from, staggeredFrom } = turn;
  const staggered =
    staggeredFrom !== null && staggeredFrom > now && staggeredFrom > from
      ? ` To keep the ages staggered wait until ${at(staggeredFrom)}.`
      : "";
  return turn.now
    ? `It may be rotated now: ${ago}${staggered}`
    : `Don't rotate now: ${ago} The earliest safe moment is ${at(from)}.${staggered}`;
}

/** `40 minutes`, `20.5 hours`. */
function span(hours: number): string {
  return hours < 2 ? `${Math.round(hours * 60)} minutes` : `${hours.toFixed(1)} hours`;
}
