import { greatest } from "../base/statistics.js";
import type { WriteOptions, Writer } from "../database/writer.js";
import { at, drawIndex, drawValue, list, ofKind, runHash, scramble } from "./draw.js";
import {
  COUNTRIES,
  DOMAINS,
  FAILED_PERMILLE,
  HELPER_ZONE,
  HELPERS,
  INPUT_SPANS,
  INPUTS,
  NETWORKS,
  ofRelease,
  PRIORITY_SITES,
  PROBES,
  releasedAt,
  TESTS,
  updateDelays,
} from "./service.js";
import { DAY } from "../time/span.js";

const COUNTRY = ofKind(COUNTRIES, ({ code }) => code, "country");

/** Which sample to make; times in seconds since 1970, [start, end). */
export interface SamplePlan {
  readonly rows: number;
  readonly seed: number;
  readonly start: number;
  readonly end: number;
}

/** Days that the sample covers: 26 weeks. */
export const SAMPLE_DAYS = 182;

/**
 * The fault that is planted: since a release, runs of a probe (both by index) end early, and
 * `lengthPercent` of their measurements are left.
 */
export const FAULT = {
  probe: 0,
  release: PROBES[0]!.releases.length - 1,
  lengthPercent: 40,
} as const;

/** The `CREATE TABLE` of the runs, one row each, that measurements and logs are made from. */
export const runsTable = (name: string) => `CREATE TABLE ${name} (
  run UInt32, start UInt32, length UInt16, pace UInt32, hash UInt64,
  country UInt8, probe UInt8, release UInt8, test UInt8, probe_asn UInt32, report_id String
) ENGINE = MergeTree ORDER BY start`;

/** Which of the runs that were made are the sample's: those up to `last`, which has `excess` measurements too many. */
export interface MadeRuns {
  readonly last: number;
  readonly excess: number;
}

/** SQL of the sample's runs that start in [{from:UInt32}, {to:UInt32}); `kept` measurements of each count. */
export function keptRuns(runs: string): string {
  return `SELECT *, length - if(run = {last:UInt32}, {excess:UInt16}, 0) AS kept FROM ${runs}
    WHERE start >= {from:UInt32} AND start < {to:UInt32} AND run <= {last:UInt32}`;
}

/** Measurements of a mean run, estimated low: to make a few runs too many costs next to nothing. */
const FEWEST_PER_RUN = 20;

/** Makes runs, in their order, until they hold as many measurements as the plan says. */
export async function makeRuns(
  writer: Writer,
  runs: string,
  plan: SamplePlan,
  options: WriteOptions,
): Promise<MadeRuns> {
  const { rows, seed, end } = plan;
  for (let made = 0, missing = rows; ;) {
    const to = made + Math.ceil(missing / FEWEST_PER_RUN) + 10;
    const parameters = { seed, end, from: made, to };
    await writer.command(runsInsert(runs, end, seed), { ...options, parameters });
    made = to;
    const [found] = await writer.rows<Record<"last" | "enough" | "total", number | string>>(
      `SELECT minIf(run, so_far >= {rows:UInt64}) AS last,
         minIf(so_far, so_far >= {rows:UInt64}) AS enough, max(so_far) AS total
       FROM (SELECT run, sum(length) OVER (ORDER BY run) AS so_far FROM ${runs})`,
      { ...options, parameters: { rows } },
    );
    missing = rows - Number(found?.total);
    if (missing <= 0) return { last: Number(found?.last), excess: Number(found?.enough) - rows };
  }
}

/**
 * SQL that makes the runs {from:UInt64} up to, and without, {to:UInt64} of a sample.
 *
 * A run's values depend on its number, on {seed:UInt64} and on {end:UInt32} only, so a larger
 * sample holds the runs of a smaller one. `pace` is in milliseconds from one measurement to the
 * next; `country`, `probe`, `release` and `test` are indexes in the constants of that name.
 */
function runsInsert(table: string, end: number, seed: number): string {
  return `INSERT INTO ${table}
SELECT run, start, length, pace, hash, country, probe, release, test, probe_asn,
  concat(formatDateTime(toDateTime(start, 'UTC'), '%Y%m%dT%H%i%SZ'), '_',
    ${ofKind(TESTS, (test) => test.name.replaceAll("_", ""), "test")}, '_',
    ${COUNTRY}, '_', toString(probe_asn), '_n1_',
    substring(translate(base64Encode(sipHash128({seed:UInt64}, run)), '+/', 'xQ'), 1, 16)) AS report_id
FROM (
  SELECT *, ${LENGTH} AS length FROM (
    SELECT *, ${newestRelease(end)} AS release FROM (
      SELECT *, ${START} AS start, ${ofTest("paces", "pace")} AS pace FROM (
        SELECT *, ${ofKind(NETWORKS, (network) => network.country, "network")} AS country,
          ${ofKind(NETWORKS, (network) => network.asn, "network")} AS probe_asn
        FROM (
          SELECT toUInt32(number) AS run,
            ${runHash("measurements")} AS hash,
            ${draw(NETWORKS, "network")} AS network,
            ${draw(PROBES, "probe")} AS probe,
            ${draw(TESTS, "test")} AS test,
            ${drawIndex(dayWeights(end, seed), runHash("day"))} AS day,
            ${runHash("second")} % 3600 AS second
          FROM numbers_mt({from:UInt64}, {to:UInt64} - {from:UInt64})
        )
      )
    )
  )
)`;
}

function draw(kinds: readonly { readonly weight: number }[], purpose: string): string {
  return drawIndex(
    kinds.map((kind) => kind.weight),
    runHash(purpose),
  );
}

/** SQL for one of several expressions, by an index. */
function choose(index: string, expressions: readonly string[]): string {
  return `multiIf(${expressions.map((sql, value) => `${index} = ${value}, ${sql}`).join(", ")}, 0)`;
}

function ofTest(values: "paces" | "lengths", purpose: string): string {
  return choose(
    "test",
    TESTS.map((test) => drawValue(test[values], runHash(purpose))),
  );
}

/** The newest release that has reached the user when the run starts. */
function newestRelease(end: number): string {
  return choose(
    "probe",
    PROBES.map((probe) => {
      const releases = list(probe.releases.map((each) => releasedAt(each, end)));
      const delay = drawValue(updateDelays(probe.uptake), runHash("update"));
      return `greatest(arrayCount(released -> released + ${delay} <= start, ${releases}), 1) - 1`;
    }),
  );
}

const BY_WEEKDAY = [0.95, 1.03, 1.04, 1.03, 1.02, 1.0, 0.94]; // Sunday first, as Date.getUTCDay

/** Runs by day of the sample, as weights: a slow growth, a weekly season and a few percent of chance. */
function dayWeights(end: number, seed: number): number[] {
  const midnight = Math.ceil(end / 86_400);
  return Array.from({ length: SAMPLE_DAYS }, (_, day) => {
    const date = new Date((midnight - (SAMPLE_DAYS - day)) * DAY);
    const growth = 1 + 0.05 * (day / SAMPLE_DAYS);
    const chance = 1 + 0.05 * (scramble(seed * SAMPLE_DAYS + day) - 0.5);
    return growth * chance * (BY_WEEKDAY[date.getUTCDay()] ?? 1);
  });
}

/** Runs by local hour of a day, as weights. */
function hourWeights(startedBy: "person" | "timer"): number[] {
  // people measure in the evening; timers wait for a charger and a free network, most by night
  const [peak, swing] = startedBy === "person" ? [20, 0.75] : [1, 0.3];
  return Array.from(
    { length: 24 },
    (_, hour) => 1 + swing * Math.cos(((hour - peak) / 24) * 2 * Math.PI),
  );
}

const LOCAL_HOUR = choose(
  "probe",
  PROBES.map((probe) => drawIndex(hourWeights(probe.startedBy), runHash("hour"))),
);
const UTC_OFFSET = ofKind(COUNTRIES, (country) => country.utcOffset, "country");
const SECOND_OF_DAY = `positiveModulo(${LOCAL_HOUR} - ${UTC_OFFSET}, 24) * 3600 + second`;
// the last day may be cut by an end that is not at midnight: what lies beyond it fills the first day
const FIRST_MIDNIGHT = `(intDiv({end:UInt32} + 86399, 86400) - ${SAMPLE_DAYS}) * 86400`;
const DRAWN_START = `${FIRST_MIDNIGHT} + day * 86400 + ${SECOND_OF_DAY}`;
const START = `toUInt32(if(${DRAWN_START} >= {end:UInt32}, ${DRAWN_START} - ${SAMPLE_DAYS} * 86400, ${DRAWN_START}))`;

const FULL_LENGTH = `intDiv(${ofTest("lengths", "length")} * ${ofKind(PROBES, (probe) => probe.lengthPercent, "probe")}, 100)`;
const MOST = ofKind(TESTS, (test) => greatest(test.lengths), "test");
const IS_FAULTY = `probe = ${FAULT.probe} AND release >= ${FAULT.release}`;
const LEFT = `intDiv(least(${FULL_LENGTH}, ${MOST}) * if(${IS_FAULTY}, ${FAULT.lengthPercent}, 100) + 50, 100)`;
// a run that is under way at the end of the sample holds what was measured until then
const UNTIL_END = `intDiv(({end:UInt32} - start) * 1000, pace)`;
const LENGTH = `greatest(least(${LEFT}, ${UNTIL_END}), 1)`;

/** SQL that makes the measurements of the runs that `keptRuns` gives. */
export function measurementsInsert(table: string, runs: string): string {
  const ofRun = Object.keys(OF_RUN).join(", ");
  return `INSERT INTO ${table} (${ofRun}, ${Object.keys(OF_MEASUREMENT).join(", ")})
SELECT ${ofRun},
  ${columns(OF_MEASUREMENT)}
FROM (
  SELECT *, ${STARTED} AS started, ${ITEM} AS item, ${BLOCKED} AS is_blocked,
    is_blocked AND chance % 20 > 0 OR bitShiftRight(chance, 8) % 100 < 2 AS is_anomaly
  FROM (
    SELECT *, step, cityHash64(hash, step) AS chance
    FROM (
      SELECT kept, hash, start, pace, test, country,
        ${ofKind(COUNTRIES, ({ blocked }) => blocked, "country")} AS blocked,
        ${ofKind(TESTS, ({ inputs }) => Object.keys(INPUT_SPANS).indexOf(inputs), "test")} AS inputs,
        hash % 1009 AS offset, 1 + bitShiftRight(hash, 20) % 1097 AS stride,
        concat('_', ${COUNTRY}, '_', ${ofKind(TESTS, ({ name }) => name.replaceAll("_", ""), "test")}, '_') AS uid_end,
        ${columns(OF_RUN)}
      FROM (${keptRuns(runs)})
    ) ARRAY JOIN range(kept) AS step
  )
)`;
}

function columns(named: Readonly<Record<string, string>>): string {
  return Object.entries(named)
    .map(([name, sql]) => (name === sql ? name : `${sql} AS ${name}`))
    .join(",\n  ");
}

/** A text column of a run, as a dictionary: it is repeated for each measurement. */
function word(sql: string): string {
  return `CAST(${sql}, 'LowCardinality(String)')`;
}

/** What all measurements of a run have in common. */
const OF_RUN = {
  report_id: "report_id",
  probe_cc: word(COUNTRY),
  probe_asn: "probe_asn",
  test_name: word(ofKind(TESTS, ({ name }) => name, "test")),
  test_version: word(ofKind(TESTS, ({ version }) => version, "test")),
  test_start_time: "start - 1",
  software_name: word(ofKind(PROBES, ({ name }) => name, "probe")),
  software_version: word(ofRelease((_, { version }) => version)),
  engine_name: word("'probe-engine'"),
  engine_version: word(ofRelease((_, { engine }) => engine)),
  platform: ofDevice(0),
  architecture: ofDevice(1),
  test_helper_type: word(ofKind(TESTS, ({ inputs }) => (inputs === "urls" ? "https" : ""), "test")),
};

/** The platform (0) or the architecture (1) of one of four devices. */
function ofDevice(part: 0 | 1): string {
  const texts = PROBES.flatMap(({ platforms }) =>
    [0, 1, 2, 3].map((index) => platforms[index % platforms.length]!.split("/")[part]!),
  );
  return word(at(texts, "(probe * 4 + bitShiftRight(hash, 40) % 4)"));
}

const { urls, resolvers, stun, none } = INPUT_SPANS;
// a step takes 1 to 1.8 paces less what the one before it was late: starts stay in order
const STARTED = "start + intDiv(pace * (step * 1000 + if(step = 0, 0, chance % 800)), 1000000)";
const ITEM = `multiIf(
    inputs = 0 AND step % 4 = 0, (offset + intDiv(step, 4)) % ${PRIORITY_SITES},
    inputs = 0, ${urls.first} + (offset + step * stride) % ${urls.size},
    inputs = 1, ${resolvers.first} + (offset + step) % ${resolvers.size},
    inputs = 2, ${stun.first} + (offset + step) % ${stun.size}, ${none.first})`;
// a site is blocked in a country, or it isn't; chance plays only a small part
const BLOCKED = "intHash64((item + test * 2048) * 256 + country) % 1000 < blocked";

const OF_MEASUREMENT = {
  measurement_uid: `concat(toString(toYYYYMMDDhhmmss(toDateTime(started, 'UTC'))), '.',
    toString(100000 + bitShiftRight(chance, 30) % 900000), uid_end, lower(hex(chance)))`,
  measurement_start_time: "started",
  input: at(INPUTS, "item"),
  domain: at(DOMAINS, "item"),
  anomaly: "if(is_anomaly, 't', 'f')",
  confirmed: "if(is_blocked AND is_anomaly AND item % 3 = 0, 't', 'f')",
  msm_failure: `if(bitShiftRight(chance, 16) % 1000 < ${FAILED_PERMILLE}, 't', 'f')`,
  test_runtime: "toFloat32(intDiv(pace, 10) * (60 + bitShiftRight(chance, 44) % 32) / 10000)",
  test_helper_address: `if(test_helper_type = '', '', ${ofKind(HELPERS, (rdn) => `https://${rdn}.${HELPER_ZONE}`, `bitShiftRight(chance, 54) % ${HELPERS.length}`)})`,
};
