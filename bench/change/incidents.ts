/**
 * Seeded incidents on the synthetic service, each a table of its own in ClickHouse: some weeks of the
 * sample's rows, thinned by runs, with week-to-week noise by network, growth, and one thing planted.
 * Each is asked as a user would: `explain(lab.measurements, …)` with default dimensions.
 *
 * "The cause" of an incident is the element that was planted: these dimensions with these values, or
 * another that has the same rows (nineteen in twenty of both, before anything was planted), as a
 * network of one country has. Of a version move it is a cause that lists both versions (and, if it
 * names a program, the right one). Of the whole and of an ingestion lag it is "all rows alike".
 *
 * Incidents are ones that can be seen: an element loses (or wins) at least VISIBLE standard errors of
 * its count, where a row says as little as one in RUN, as they come in runs (Σ m² / Σ m of the sample is 57).
 */
import { performance } from "node:perf_hooks";
import type { Writer } from "../../src/database/writer.js";
import { openWriter } from "../../src/database/writer.js";
import { alarm } from "../../src/change/alarm.js";
import { changePoints } from "../../src/change/change-points.js";
import { explain, type Cause } from "../../src/change/explain.js";
import { connect, type Lab } from "../../src/lab/connect.js";
import { count, share } from "../../src/query/measure.js";
import { between, type TimeRange } from "../../src/time/time-range.js";
import { sampleDatabase } from "../support/sample-database.js";
import { seeded } from "./change-points.js";

const HOUR = 3_600_000;
const WEEK = 168 * HOUR;
const RUN = 60;
const VISIBLE = 6;
/** From here on the sample is as steady as it gets, until its own planted fault of May 9. */
const FIRST = Date.UTC(2026, 0, 5);
const WEEKS = 17;
const NEW = "99.0.0";

const KINDS = [
  ...["single value", "single value", "pair of values", "pair of values", "version move"],
  ...["country outage", "one network", "helper failure", "slow decline", "ingestion lag"],
  ...["the whole", "nothing", "nothing", "nothing"],
] as const;
type Kind = (typeof KINDS)[number];

type Where = Readonly<Record<string, string>>;
type Draw = ReturnType<typeof seeded>;

/** Metrics: explain's place of the cause, quiet, alarm and change point. Prints a table by kind. */
export async function incidents(): Promise<Record<string, number>> {
  const many = Number(process.env["SEEDS"] ?? 308);
  const first = process.env["TUNE"] === undefined ? 5_000_000 : 1_000;
  const source = await sampleDatabase(Number(process.env["ROWS"] ?? 10_000_000));
  if (source.kind !== "embedded") return {};
  await using writer = await openWriter(source);
  const scores: Score[] = [];
  for (let at = 0; at < many; at += 1) {
    const kind = KINDS[at % KINDS.length]!;
    if (!(process.env["KIND"] ?? kind).split(",").includes(kind)) continue;
    const score = await ask(writer, `embedded:${source.directory}`, kind, first + at);
    if (score !== undefined) scores.push(score);
  }
  console.table([...new Set(KINDS)].map((kind) => line(kind, scores)));
  const rate = (some: readonly Score[], of: (score: Score) => boolean | undefined) => {
    const asked = some.filter((score) => of(score) !== undefined);
    return asked.filter(of).length / asked.length;
  };
  const planted = scores.filter(({ kind }) => kind !== "nothing");
  const hours = scores.reduce((sum, score) => sum + (score.judged ?? 0), 0);
  const alarms = scores.reduce((sum, score) => sum + (score.alarms ?? 0), 0);
  return {
    explain_top1: rate(planted, ({ place }) => place === 1),
    explain_top3: rate(planted, ({ place }) => place > 0 && place <= 3),
    quiet_share: rate(scores, (one) => (one.kind === "nothing" ? !one.found : undefined)),
    alarm_recall: rate(scores, ({ alarmed }) => alarmed),
    // Of drops that alarm says it can tell in these counts.
    alarm_recall_told: rate(scores, ({ told }) => told),
    false_alarms_per_4_weeks: (alarms / hours) * 4 * 168,
    change_point_hit: rate(scores, ({ changed }) => changed),
  };
}

interface Score {
  readonly kind: Kind;
  /** The place of the cause, from 1; 0 where it isn't among the causes. */
  readonly place: number;
  readonly found: boolean;
  readonly causes: number;
  readonly ms: number;
  readonly alarmed?: boolean | undefined;
  readonly told?: boolean | undefined;
  readonly changed?: boolean | undefined;
  readonly judged?: number | undefined;
  readonly alarms?: number | undefined;
}

function line(kind: Kind, scores: readonly Score[]) {
  const own = scores.filter((score) => score.kind === kind);
  const mean = (of: (score: Score) => number) =>
    own.length === 0 ? "" : (own.reduce((sum, one) => sum + of(one), 0) / own.length).toFixed(2);
  return {
    kind,
    incidents: own.length,
    first: mean(({ place }) => Number(place === 1)),
    "in first three": mean(({ place }) => Number(place > 0 && place <= 3)),
    found: mean(({ found }) => Number(found)),
    causes: mean(({ causes }) => causes),
    ms: mean(({ ms }) => ms),
  };
}

/** What is drawn for an incident before its rows are. */
interface Plan {
  readonly kind: Kind;
  readonly seed: number;
  /** Start of the table's rows, of the incident's week, and their end. */
  readonly from: number;
  readonly week: number;
  readonly end: number;
  /** Part of the sample's runs; the sample's weeks that are laid over one another. */
  readonly size: number;
  readonly layers: number;
  /** Up to this part of a network's runs is missing in a week; what the whole grows by in a week. */
  readonly noise: number;
  readonly growth: number;
}

/** What is planted. */
interface Planted {
  readonly element: Where;
  readonly depth: number;
  readonly start: number;
  readonly end: number;
  /** Runs are lost, or measurements of all runs. */
  readonly byRun: boolean;
  /** Rows are lost before instead: a rise. */
  readonly rise?: boolean;
  /** The part of the element's rows that move to a new version; those lose `depth`. */
  readonly moved?: number;
  /** Lost little by little, over as long as this. */
  readonly slow?: number;
  /** The column that becomes 't' instead of rows that are lost. */
  readonly marks?: "msm_failure" | "anomaly";
}

function planOf(kind: Kind, draw: Draw, seed: number): Plan {
  const flow = kind === "the whole" || (kind === "nothing" && draw.uniform() < 0.5);
  const weeks = flow ? 8 : kind === "slow decline" ? 5 : 2;
  const layers = flow ? 1 : draw.pick([1, 1, 2]);
  const from = FIRST + draw.between(0, (WEEKS >> (layers - 1)) - weeks + 1) * WEEK;
  // From about 4,000 rows a week to all of the sample's, on the log scale; flows by hour need more.
  const size = Math.exp(-(flow ? 1.2 : 4.6) * draw.uniform());
  return {
    ...{
      kind,
      seed,
      from,
      week: from + (weeks - 1) * WEEK,
      end: from + weeks * WEEK,
      size,
      layers,
    },
    noise: draw.pick([0, 0.05, 0.1]),
    // Over four weeks that would be a change of the whole.
    growth: kind === "slow decline" ? 0 : draw.pick([0, 0, 0.02, -0.02]),
  };
}

const COLUMNS = [
  ...["report_id", "measurement_uid", "measurement_start_time", "software_name"],
  ...["software_version", "probe_cc", "probe_asn", "test_name", "anomaly", "msm_failure"],
  ...["input", "test_helper_address"],
];

/** The rows of a plan: layers of weeks over one another, thinned by runs. */
function rowsOf({ from, end, seed, size, layers, noise, growth }: Plan): string {
  const shift = WEEKS >> 1;
  const layer = (_: unknown, at: number) =>
    `SELECT ${COLUMNS.map((name) =>
      at === 0
        ? name
        : name === "measurement_start_time"
          ? `measurement_start_time - INTERVAL ${at * shift} WEEK AS measurement_start_time`
          : name === "report_id"
            ? `concat('l${at}', report_id) AS report_id`
            : name,
    ).join(
      ", ",
    )} FROM fastpath WHERE fastpath.measurement_start_time >= ${instant(from + at * shift * WEEK)}
      AND fastpath.measurement_start_time < ${instant(end + at * shift * WEEK)}`;
  const week = `intDiv(toUnixTimestamp(measurement_start_time) - ${from / 1000}, 604800)`;
  const most = growth > 0 ? (end - from) / WEEK : 0;
  const keep = `${size} * (1 - ${noise} * ${chance("probe_asn", week, seed)}) * exp(${growth} * (${week} - ${most}))`;
  return `SELECT * FROM (${Array.from({ length: layers }, layer).join(" UNION ALL ")}) WHERE ${chance("report_id", seed)} < ${keep}`;
}

function instant(time: number): string {
  return `toDateTime64('${new Date(time).toISOString().slice(0, 19).replace("T", " ")}', 3, 'UTC')`;
}

/** A number from 0 to 1 by a hash of these. */
function chance(...of: (string | number)[]): string {
  return `cityHash64(${of.join(", ")}) / 18446744073709551616.`;
}

function holds(element: Where): string {
  const terms = Object.entries(element).map(([name, value]) => `toString(${name}) = '${value}'`);
  return terms.length === 0 ? "1" : terms.join(" AND ");
}

/** The rows once something was planted in them. */
function withPlanted(plan: Plan, planted: Planted | undefined): string {
  const rows = rowsOf(plan);
  if (planted === undefined) return rows;
  const { element, depth, start, end, byRun, rise, moved, slow, marks } = planted;
  const { seed } = plan;
  const during = `measurement_start_time >= ${instant(start)} AND measurement_start_time < ${instant(end)}`;
  const hit = `${chance(byRun ? "report_id" : "measurement_uid", byRun ? "1" : "report_id", seed + 1)} < ${depth}`;
  if (marks !== undefined) {
    return `SELECT * REPLACE (if(${holds(element)} AND ${during} AND ${hit}, 't', ${marks}) AS ${marks}) FROM (${rows})`;
  }
  if (moved !== undefined) {
    const moves = `${holds(element)} AND ${during} AND ${chance("report_id", seed + 2)} < ${moved}`;
    return `SELECT * REPLACE (if(${moves}, '${NEW}', software_version) AS software_version) FROM (${rows} AND NOT (${moves} AND ${hit}))`;
  }
  if (slow !== undefined) {
    const part = `least(1, (toUnixTimestamp(measurement_start_time) - ${start / 1000}) / ${slow / 1000})`;
    return `${rows} AND NOT (${holds(element)} AND ${during} AND ${hit} * ${part})`;
  }
  return `${rows} AND NOT (${holds(element)} AND ${rise ? `NOT (${during})` : during} AND ${hit})`;
}

/** What to plant, drawn among what can be seen in these rows; undefined where nothing can. */
async function plantedOf(writer: Writer, plan: Plan, draw: Draw): Promise<Planted | undefined> {
  const { kind, week, end } = plan;
  const byRun = draw.uniform() < 0.5;
  const depth = draw.pick([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]);
  switch (kind) {
    case "nothing":
      return undefined;
    case "the whole": {
      const start = end - draw.between(48, 120) * HOUR;
      const seen = await elements(writer, plan, [], { depth, range: [start, end] });
      return seen.length === 0 ? undefined : { element: {}, depth, byRun, start, end };
    }
    case "ingestion lag": {
      // The newest hours of the last day are missing.
      const start = end - draw.between(5, 20) * HOUR;
      const seen = await elements(writer, plan, [], { depth: 1, range: [start, end] });
      return seen.length === 0 ? undefined : { element: {}, depth: 1, byRun, start, end };
    }
    case "single value": {
      const name = draw.pick(["probe_cc", "test_name", "software_name", "probe_asn"]);
      const rise = draw.uniform() < 0.25;
      const seen = await elements(writer, plan, [name], { depth });
      const element = seen.length === 0 ? undefined : draw.pick(seen);
      return element && { element, depth, byRun, start: week, end, rise };
    }
    case "one network": {
      const seen = await elements(writer, plan, ["probe_asn"], { depth });
      return seen.length === 0
        ? undefined
        : { element: draw.pick(seen), depth, byRun, start: week, end };
    }
    case "pair of values": {
      const names = draw.pick([
        ...[
          ["probe_cc", "test_name"],
          ["software_name", "probe_cc"],
          ["software_name", "test_name"],
        ],
        ...[
          ["probe_asn", "test_name"],
          ["software_version", "probe_cc"],
        ],
      ]);
      const seen = await elements(writer, plan, names, { depth });
      return seen.length === 0
        ? undefined
        : { element: draw.pick(seen), depth, byRun, start: week, end };
    }
    case "version move": {
      const moved = draw.pick([0.5, 0.7, 0.9, 1]);
      const seen = await elements(writer, plan, ["software_name", "software_version"], {
        depth: depth * moved,
        pairs: false,
      });
      return seen.length === 0
        ? undefined
        : { element: draw.pick(seen), depth, byRun, moved, start: week, end };
    }
    case "country outage": {
      const hours = draw.pick([12, 24, 48, 96]);
      const start = week + draw.between(0, 168 - hours) * HOUR;
      const deep = draw.pick([0.8, 0.95, 1]);
      const range = [start, start + hours * HOUR] as const;
      const seen = await elements(writer, plan, ["probe_cc"], { depth: deep, range });
      return seen.length === 0
        ? undefined
        : { element: draw.pick(seen), depth: deep, byRun, start, end: start + hours * HOUR };
    }
    case "helper failure": {
      const names = draw.pick([["test_helper_address"], ["probe_asn"], ["probe_cc", "test_name"]]);
      const marks = draw.pick(["msm_failure", "anomaly"] as const);
      const part = draw.pick([0.05, 0.1, 0.2, 0.4]);
      const seen = await elements(writer, plan, names, { depth: part, marks });
      return seen.length === 0
        ? undefined
        : { element: draw.pick(seen), depth: part, byRun: false, start: week, end, marks };
    }
    case "slow decline": {
      const names = draw.pick([["probe_cc"], ["software_name"], ["test_name"], ["probe_asn"]]);
      const slow = 4 * WEEK;
      const seen = await elements(writer, plan, names, { depth: depth * 0.875 });
      return seen.length === 0
        ? undefined
        : { element: draw.pick(seen), depth, byRun, slow, start: end - slow, end };
    }
  }
}

/** Elements of these dimensions whose change would be seen, and which are neither all rows nor (of pairs) nearly one value's. */
async function elements(
  writer: Writer,
  plan: Plan,
  names: readonly string[],
  options: {
    depth: number;
    pairs?: boolean;
    marks?: "msm_failure" | "anomaly";
    range?: readonly [number, number];
  },
): Promise<Where[]> {
  const { depth, marks, pairs = true } = options;
  // What would have come: a release of the week before may be gone by itself.
  const [from, end] = options.range ?? [plan.week, plan.end];
  const cells = await writer.rows<Record<string, string> & { n: number; marked: number }>(
    `SELECT ${names.map((name) => `toString(${name}) AS _${name}, `).join("")}toFloat64(count()) AS n,
       toFloat64(countIf(${marks ?? "anomaly"} = 't')) AS marked
     FROM (${rowsOf(plan)}) WHERE measurement_start_time >= ${instant(from)} AND measurement_start_time < ${instant(end)}
     ${names.length === 0 ? "" : "GROUP BY ALL ORDER BY ALL"}`,
  );
  const all = cells.reduce((sum, { n }) => sum + n, 0);
  const sums = names.map((name) => {
    const sum = new Map<string, number>();
    for (const cell of cells) {
      const value = cell[`_${name}`]!;
      sum.set(value, (sum.get(value) ?? 0) + cell.n);
    }
    return sum;
  });
  return cells.flatMap((cell) => {
    const { n, marked } = cell;
    const values = names.map((name) => cell[`_${name}`]!);
    if ((names.length > 0 && n > all / 2) || values.includes("")) return [];
    if (pairs && names.length > 1) {
      if (values.some((value, at) => n > 0.6 * sums[at]!.get(value)!)) return [];
    }
    const was = marked / n;
    const is = was + (1 - was) * depth;
    const z =
      marks === undefined
        ? (n * depth) / Math.sqrt(2 * RUN * n)
        : ((is - was) * Math.sqrt(n)) / Math.sqrt(was * (1 - was) + is * (1 - is));
    return !(z >= VISIBLE)
      ? []
      : [Object.fromEntries(names.map((name, at) => [name, values[at]!]))];
  });
}

async function ask(
  writer: Writer,
  source: string,
  kind: Kind,
  seed: number,
): Promise<Score | undefined> {
  // Of what can't be seen another is drawn.
  for (let tries = 0; tries < 20; tries += 1) {
    const draw = seeded(seed * 100 + tries);
    const plan = planOf(kind, draw, seed * 100 + tries);
    const planted = await plantedOf(writer, plan, draw);
    if (kind !== "nothing" && planted === undefined) continue;
    // Nothing is lost where users only move to a new version.
    const [adopted] =
      kind === "nothing" && draw.uniform() < 0.4
        ? await elements(writer, plan, ["software_name", "software_version"], { depth: 1 })
        : [];
    const rows = withPlanted(
      plan,
      adopted === undefined
        ? planted
        : {
            ...{ element: adopted, depth: 0, byRun: true, moved: 0.2 + 0.8 * draw.uniform() },
            ...{ start: plan.week, end: plan.end },
          },
    );
    const name = `incident_${seed}`;
    await writer.command(`DROP TABLE IF EXISTS ${name}`);
    await writer.command(
      `CREATE TABLE ${name} ENGINE = MergeTree ORDER BY measurement_start_time AS ${rows}`,
    );
    try {
      const lab = await connect({
        measurements: source,
        tables: { measurements: { table: name } },
      });
      try {
        return await score(writer, lab, plan, planted, draw);
      } finally {
        await lab.close();
      }
    } finally {
      await writer.command(`DROP TABLE ${name}`);
    }
  }
  return undefined;
}

async function score(
  writer: Writer,
  lab: Lab,
  plan: Plan,
  planted: Planted | undefined,
  draw: Draw,
): Promise<Score> {
  const { kind, seed, week, end } = plan;
  const marks =
    planted?.marks ??
    (kind === "nothing"
      ? draw.pick([undefined, undefined, "anomaly", "msm_failure"] as const)
      : undefined);
  const after = afterOf(plan, planted);
  const weeks = kind === "slow decline" ? 4 : 1;
  const before = between(
    new Date(+after.start - weeks * WEEK),
    new Date(+after.end - weeks * WEEK),
  );
  const helper = planted?.element["test_helper_address"] !== undefined;
  const begun = performance.now();
  const answer = await explain(lab.measurements, {
    measure: marks === undefined ? count() : share({ [marks]: "t" }),
    ...{ before, after },
    ...(helper && {
      dimensions: [
        "software_name",
        "software_version",
        "probe_cc",
        "test_name",
        "test_helper_address",
      ],
    }),
  });
  const ms = performance.now() - begun;
  let place = 0;
  for (const [at, cause] of answer.causes.entries()) {
    if (planted === undefined || !(await isCause(writer, plan, planted, cause))) continue;
    place = at + 1;
    break;
  }
  if (process.env["SHOW"] !== undefined && (planted === undefined ? answer.found : place !== 1)) {
    console.log(
      `${kind} ${seed} (size ${plan.size.toFixed(3)}, noise ${plan.noise}, growth ${plan.growth})`,
      JSON.stringify(planted ?? ""),
      `place ${place}: ${answer.sentence}`,
      answer.causes.slice(0, 4).map(({ text, change }) => `${text} ${change}`),
    );
  }
  const scored = { kind, place, found: answer.found, causes: answer.causes.length, ms };
  if (end - plan.from < 8 * WEEK) return scored;
  const range = between(new Date(plan.from), new Date(end));
  const counts = () => lab.measurements.counts({ range, every: "hour" });
  if (planted === undefined) {
    const { result } = await alarm(counts());
    return { ...scored, judged: (end - plan.from) / HOUR - 4 * 168, alarms: result.numRows() };
  }
  const alarms = await alarm(counts(), { since: new Date(week) });
  const times = alarms.result.column("t") as readonly Date[];
  const until = alarms.result.column("until") as readonly Date[];
  const soon = times.some(
    (from, at) => +from <= planted.start + HOUR && +until[at]! > planted.start,
  );
  const points = await changePoints(
    lab.measurements.counts({
      range: between(new Date(end - 4 * WEEK), new Date(end)),
      every: "hour",
    }),
  );
  const moved = points.result.column("t") as readonly Date[];
  return {
    ...scored,
    alarmed: planted.depth >= 0.5 ? soon : undefined,
    told: planted.depth >= (alarms.least ?? 2) ? soon : undefined,
    changed: moved.some((time) => Math.abs(+time - planted.start) <= HOUR),
  };
}

/** What a user would ask about: the incident's own hours, the last day of a lag, else the week. */
function afterOf({ kind, week, end }: Plan, planted: Planted | undefined): TimeRange {
  const start =
    kind === "ingestion lag"
      ? end - 24 * HOUR
      : kind === "country outage" || kind === "the whole"
        ? (planted?.start ?? week)
        : week;
  return between(new Date(start), new Date(kind === "country outage" ? planted!.end : end));
}

async function isCause(
  writer: Writer,
  plan: Plan,
  { element, moved }: Planted,
  { where }: Cause,
): Promise<boolean> {
  const keys = Object.keys(where);
  if (Object.keys(element).length === 0 || keys.length === 0) {
    return keys.length === 0 && Object.keys(element).length === 0;
  }
  if (moved !== undefined) {
    const { software_version: versions, software_name: program, ...others } = where;
    return (
      Array.isArray(versions) &&
      [element["software_version"], NEW].every((one) => versions.includes(one)) &&
      (program === undefined || program === element["software_name"]) &&
      Object.keys(others).length === 0
    );
  }
  if (Object.values(where).some((value) => typeof value !== "string")) return false;
  const found = where as Where;
  const same = (name: string) => found[name] === element[name];
  if ([...keys, ...Object.keys(element)].every(same)) return true;
  const [rows] = await writer.rows<{ both: number; either: number }>(
    `SELECT toFloat64(countIf((${holds(found)}) AND (${holds(element)}))) AS both,
       toFloat64(countIf((${holds(found)}) OR (${holds(element)}))) AS either
     FROM (${rowsOf(plan)}) WHERE measurement_start_time < ${instant(plan.week)}`,
  );
  return rows !== undefined && rows.both >= 0.95 * rows.either;
}
