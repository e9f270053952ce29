import { checkOptions } from "../../base/check-options.js";
import type { Database } from "../../database/database.js";
import { gapMeasure, type DimensionColumn } from "../../result/origin.js";
import { resultOfRows } from "../../result/own-rows.js";
import type { Result } from "../../result/result.js";
import { DAY, durationText, HOUR } from "../../time/span.js";
import { last } from "../../time/time-range.js";
import { momentText } from "../../time/time-zone.js";
import { readInstances, type Instance } from "./instances.js";

/** Days between the ages of neighbours that are staggered: "about one week", so 4 to 10. */
const STAGGER = { days: 7, tolerance: 3 };

/** Options of `lab.testHelpers.rotation`. */
export interface RotationOptions {
  /**
   * Rotations fewer hours apart are too close for DNS to follow. Default 24: typical times to live
   * are one to five days (RFC 1912, section 2.2), so a day is the least after which resolvers have
   * asked again. With shorter records in your zone, pass their time to live.
   */
  readonly closestHours?: number;
  /** Stops the query at the server. @default the interrupt of the running cell */
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

/** The rotation of the test helpers. */
export interface Rotation {
  /** A row per instance that was live in the last 6 months, name descending. */
  readonly instances: Result<InstanceRow>;
  /** A row per rotation of the last 6 months, in order of time. */
  readonly rotations: Result<RotationRow>;
  /** The oldest live instance; null where there is none, or an age is unknown. */
  readonly next: InstanceRow | null;
  /** When the next instance may be rotated. */
  readonly turn: {
    /** null where the next, or the last change of DNS, is unknown. */
    readonly now: boolean | null;
    /** `closestHours` after a helper was made or began to drain; null where unknown. */
    readonly from: Date | null;
    /** The moment from which the ages stay staggered too: 4 days after the youngest was made. */
    readonly staggeredFrom: Date | null;
  };
  /** Differences between the ages of live instances. */
  readonly stagger: {
    /** Days between neighbours, from the youngest on. */
    readonly gapDays: readonly number[];
    /** True where all are 7 ± 3; null where fewer than two ages are known. */
    readonly staggered: boolean | null;
  };
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
  const isSpan = (value: unknown) => Number.isFinite(value) && Number(value) >= 0;
  const rules = {
    closestHours: { fits: isSpan, pass: "a number from 0, such as closestHours: 24" },
    signal: { fits: () => true, pass: "" },
  };
  checkOptions(options, rules, action);
  const { closestHours = 24, signal } = options;
  const range = last("6 months", { now });
  const read = await readInstances(database, { action, signal });
  // A time that has not come is none of a making.
  const known = read.instances.map((each) =>
    each.made_at !== null && each.made_at > now ? { ...each, made_at: null } : each,
  );
  const instances = instanceRows(known, now);
  const live = instances.filter(({ state }) => state === "live");
  const next = live.find((row) => row.next) ?? null;
  const rotations = rotationRows(known, closestHours).filter(
    ({ t }) => t >= range.start && t < range.end,
  );

  // An instance that is made or begins to drain changes DNS.
  const changed = latest(known.flatMap(({ made_at, draining_at }) => [made_at, draining_at]));
  const youngest = latest(live.map((row) => row.made_at));
  const from = changed && new Date(+changed + closestHours * HOUR);
  const turn = {
    now: next === null || from === null ? null : now >= from,
    from,
    staggeredFrom: youngest && new Date(+youngest + (STAGGER.days - STAGGER.tolerance) * DAY),
  };
  const ages = live.flatMap((row) => row.age_days ?? []).sort((a, b) => a - b);
  const gapDays = ages.slice(1).map((age, index) => age - ages[index]!);
  const isWithin = (gap: number): boolean => Math.abs(gap - STAGGER.days) <= STAGGER.tolerance;
  const stagger = { gapDays, staggered: gapDays.length === 0 ? null : gapDays.every(isWithin) };

  const { name, columns } = read.table;
  const unknown = {
    created_at: "ages come from the names",
    destroyed_at: "whether a draining one is gone is unknown",
  };
  const notes = Object.entries(unknown).flatMap(([column, so]) =>
    columns.has(column) ? [] : [`${name} has no column ${column}: ${so}.`],
  );
  const origin = { ...read.origin, range, reductions: [], notes: [...read.origin.notes, ...notes] };
  const shown = instances.filter(({ state, until }) => state === "live" || until >= range.start);
  return {
    instances: resultOfRows(
      shown,
      {
        ...origin,
        columns: {
          dimensions: [orderOf(shown, "name"), orderOf(shown, "state")],
          measures: [gapMeasure("age_days", "Age", "days")],
        },
      },
      ["name", "host", "region", "state", "made_at", "until", "age_days", "next"],
    ),
    rotations: resultOfRows(
      rotations,
      {
        ...origin,
        columns: {
          dimensions: [orderOf(rotations, "host")],
          measures: [gapMeasure("hours", "Hours since the rotation before", "hours")],
        },
      },
      ["t", "host", "name", "hours", "too_close"],
    ),
    next,
    turn,
    stagger,
    findings: [
      `${live.length} of ${instances.length} test helpers are live.`,
      nextText(next, live),
      staggerText(stagger),
      ...rotationTexts(rotations, closestHours),
      turnText(turn, now, changed),
    ],
  };
}

function latest(times: readonly (Date | null)[]): Date | null {
  return times.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null);
}

function instanceRows(instances: readonly Instance[], now: Date): InstanceRow[] {
  const live = instances.filter(({ draining_at, destroyed_at }) => !draining_at && !destroyed_at);
  // Where one age is unknown, so is the oldest.
  const [oldest] = live.every(({ made_at }) => made_at !== null)
    ? live.sort((a, b) => Number(a.made_at) - Number(b.made_at) || (a.name < b.name ? -1 : 1))
    : [];
  return instances.map((each) => {
    const { name, region, made_at, draining_at, destroyed_at } = each;
    const until = draining_at ?? destroyed_at ?? now;
    const state = destroyed_at ? "destroyed" : draining_at ? "draining" : "live";
    const age_days = made_at === null ? null : (+until - +made_at) / DAY;
    return {
      name,
      host: host(each),
      region,
      state,
      made_at,
      until,
      age_days,
      next: each === oldest,
    };
  });
}

function rotationRows(instances: readonly Instance[], closestHours: number): RotationRow[] {
  const drained = instances.flatMap((each) =>
    each.draining_at === null ? [] : [{ t: each.draining_at, host: host(each), name: each.name }],
  );
  drained.sort((a, b) => +a.t - +b.t || (a.name < b.name ? -1 : 1));
  return drained.map((each, index) => {
    const before = drained[index - 1];
    const hours = before === undefined ? null : (+each.t - +before.t) / HOUR;
    return { ...each, hours, too_close: hours !== null && hours < closestHours };
  });
}

function host({ rdn, dns_zone }: Instance): string {
  return `${rdn}.${dns_zone}`;
}

/** A dimension in the order in which its values occur. */
function orderOf<Row>(rows: readonly Row[], name: keyof Row & string): DimensionColumn {
  return { name, order: [...new Set(rows.map((row) => row[name] as string))] };
}

function nextText(next: InstanceRow | null, live: readonly InstanceRow[]): string {
  if (next !== null) {
    return `Next to rotate: ${next.name} (${next.host}), the oldest live one, ${(next.age_days ?? 0).toFixed(1)} days old.`;
  }
  const unknown = live.find(({ made_at }) => made_at === null);
  return unknown === undefined
    ? "No test helper is live, so there is none to rotate."
    : `The oldest live test helper is unknown: ${unknown.name} doesn't end in a past time (YYYYMMDDHHMMSS behind no other digit), and no created_at says when it was made.`;
}

function staggerText({ gapDays, staggered }: Rotation["stagger"]): string {
  if (staggered === null) return "Fewer than two live ages are known, so none can be staggered.";
  const gaps = gapDays.map((gap) => gap.toFixed(1)).join(", ");
  return `The ages of the live ones lie ${gaps} days apart: ${staggered ? "" : "not "}staggered by ${STAGGER.days} ± ${STAGGER.tolerance} days.`;
}

function rotationTexts(rotations: readonly RotationRow[], closestHours: number): string[] {
  const close = rotations.filter((row) => row.too_close);
  if (close.length === 0) {
    return [`No two rotations of the last 6 months were less than ${closestHours} hours apart.`];
  }
  return close.map(
    ({ t, name, host, hours }) =>
      `${name} (${host}) began to drain at ${momentText(t, "UTC")}, ${durationText((hours ?? 0) * HOUR, 2)} after the rotation before it: less than ${closestHours} hours are too close for DNS to follow.`,
  );
}

function turnText(turn: Rotation["turn"], now: Date, changed: Date | null): string {
  if (turn.now === null || turn.from === null || changed === null) {
    return "Can't tell whether the next may be rotated now: ask whoever runs the rotation tool when it ran last.";
  }
  const at = (time: Date) => momentText(time, "UTC");
  const ago = `DNS changed ${durationText(+now - +changed, 2)} ago.`;
  const { from, staggeredFrom } = turn;
  const staggered =
    staggeredFrom !== null && staggeredFrom > now && staggeredFrom > from
      ? ` To keep the ages staggered wait until ${at(staggeredFrom)}.`
      : "";
  return turn.now
    ? `It may be rotated now: ${ago}${staggered}`
    : `Don't rotate now: ${ago} The earliest safe moment is ${at(from)}.${staggered}`;
}
