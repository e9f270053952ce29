import type { WriteOptions, Writer } from "../database/writer.js";
import { COUNTRIES, NETWORKS } from "./countries.js";
import {
  ofKind,
  dayWeights,
  drawIndex,
  drawValue,
  hourWeights,
  list,
  runHash,
  SAMPLE_DAYS,
} from "./draw.js";
import { PROBES, releasedAt, UNATTENDED_ANDROID, updateDelays } from "./probes.js";
import { TESTS } from "./tests.js";

/** Which sample to make; times in seconds since 1970, [start, end). */
export interface SamplePlan {
  readonly rows: number;
  readonly seed: number;
  readonly start: number;
  readonly end: number;
}

/** The `CREATE TABLE` of the runs, one row each, that measurements and logs are made from. */
export function runsTable(name: string): string {
  return `CREATE TABLE ${name} (
  run UInt32, start UInt32, length UInt16, pace UInt32, hash UInt64,
  country UInt8, probe UInt8, release UInt8, test UInt8, probe_asn UInt32, report_id String
) ENGINE = MergeTree ORDER BY start`;
}

/**
 * SQL that makes the runs {from:UInt64} up to, and without, {to:UInt64} of a sample.
 *
 * A run's values depend on its number, on {seed:UInt64} and on {end:UInt32} only, so a larger
 * sample holds the runs of a smaller one. `pace` is in milliseconds from one measurement to the
 * next; `country`, `probe`, `release` and `test` are indexes in the constants of that name.
 */
function runsInsert(table: string, end: Date, seed: number): string {
  return `INSERT INTO ${table}
SELECT run, start, length, pace, hash, country, probe, release, test, probe_asn,
  concat(formatDateTime(toDateTime(start, 'UTC'), '%Y%m%dT%H%i%SZ'), '_',
    ${ofKind(TESTS, (test) => test.name.replaceAll("_", ""), "test")}, '_',
    ${ofKind(COUNTRIES, (country) => country.code, "country")}, '_', toString(probe_asn), '_n1_',
    substring(translate(base64Encode(sipHash128({seed:UInt64}, run)), '+/', 'xQ'), 1, 16)) AS report_id
FROM (
  SELECT *, ${LENGTH} AS length FROM (
    SELECT *, ${release(end)} AS release FROM (
      SELECT *, ${START} AS start, ${pace()} AS pace FROM (
        SELECT *, ${perNetwork("country")} AS country, ${perNetwork("asn")} AS probe_asn FROM (
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

function perNetwork(field: "country" | "asn"): string {
  return ofKind(NETWORKS, (network) => network[field], "network");
}

/** SQL for one of several expressions, by an index. */
function choose(index: string, expressions: readonly string[]): string {
  return `multiIf(${expressions.map((sql, value) => `${index} = ${value}, ${sql}`).join(", ")}, 0)`;
}

/** The fault that is planted in the sample, and what the investigation has to find. */
const FAULT = {
  name: "unattended-runs-end-early",
  description:
    "Since a release, runs of the unattended Android probe end early: each holds fewer measurements and is over sooner, so that the weekly count drops. The tests themselves are as fast as before.",
  softwareName: UNATTENDED_ANDROID.name,
  softwareVersion: "3.10.0",
  changes: "fewer measurements per run, shorter runs, the same seconds per measurement",
  /** Measurements that are left of a run, in percent. */
  lengthPercent: 40,
} as const;

/** Index of the first faulty release of the unattended Android probe. */
const FAULTY_RELEASE = UNATTENDED_ANDROID.releases.findIndex(
  (release) => release.version === FAULT.softwareVersion,
);

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

function pace(): string {
  return choose(
    "test",
    TESTS.map((test) => drawValue(test.paces, runHash("pace"))),
  );
}

/** The newest release that has reached the user when the run starts. */
function release(end: Date): string {
  return choose(
    "probe",
    PROBES.map((probe) => {
      const releases = list(probe.releases.map((each) => releasedAt(each, end)));
      const delay = drawValue(updateDelays(probe.uptake), runHash("update"));
      return `greatest(arrayCount(released -> released + ${delay} <= start, ${releases}), 1) - 1`;
    }),
  );
}

const FULL_LENGTH = `intDiv(${choose(
  "test",
  TESTS.map((test) => drawValue(test.lengths, runHash("length"))),
)} * ${ofKind(PROBES, (probe) => probe.lengthPercent, "probe")}, 100)`;
const MOST = ofKind(TESTS, (test) => Math.max(...test.lengths), "test");
const IS_FAULTY = `probe = ${PROBES.indexOf(UNATTENDED_ANDROID)} AND release >= ${FAULTY_RELEASE}`;
const LEFT = `intDiv(least(${FULL_LENGTH}, ${MOST}) * if(${IS_FAULTY}, ${FAULT.lengthPercent}, 100) + 50, 100)`;
// a run that is under way at the end of the sample holds what was measured until then
const UNTIL_END = `intDiv(({end:UInt32} - start) * 1000, pace)`;
const LENGTH = `greatest(least(${LEFT}, ${UNTIL_END}), 1)`;

/** SQL that writes the planted fault into a truth table. @param end of the sample. */
export function truthInsert(table: string, end: Date): string {
  const { name, description, softwareName, softwareVersion, changes, lengthPercent } = FAULT;
  const release = UNATTENDED_ANDROID.releases[FAULTY_RELEASE];
  const since = release === undefined ? 0 : releasedAt(release, end);
  const factor = lengthPercent / 100;
  return `INSERT INTO ${table} VALUES ('${name}', '${description}', '${softwareName}',
    '${softwareVersion}', toDateTime(${since}, 'UTC'), '${changes}', ${factor}, ${factor}, 1)`;
}

/** Which of the runs that were made are the sample's. */
export interface MadeRuns {
  /** Number of the last run that belongs to it. */
  readonly last: number;
  /** Measurements that the last run has too many. */
  readonly excess: number;
}

/**
 * Makes runs, in their order, until they hold as many measurements as the plan says, and tells
 * where to cut. Each run is drawn by its number alone, so how many are made at once is no matter.
 */
export async function makeRuns(
  writer: Writer,
  runs: string,
  plan: SamplePlan,
  options: WriteOptions,
): Promise<MadeRuns> {
  const { rows, seed, end } = plan;
  for (let made = 0, missing = rows; ;) {
    const to = made + Math.ceil(missing / FEWEST_PER_RUN) + 10;
    await writer.command(runsInsert(runs, new Date(end * 1000), seed), {
      ...options,
      parameters: { seed, end, from: made, to },
    });
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

/** Measurements of a mean run, estimated low: to make a few runs too many costs next to nothing. */
const FEWEST_PER_RUN = 20;
