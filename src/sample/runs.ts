import { COUNTRIES } from "./countries.js";
import { at, drawIndex, drawValue, list, runHash } from "./draw.js";
import { NETWORKS } from "./networks.js";
import { PROBES, UNATTENDED_ANDROID, updateDelays } from "./probes.js";
import { dayWeights, hourWeights, SAMPLE_DAYS } from "./season.js";
import { TESTS } from "./tests.js";
import { FAULT, FAULTY_RELEASE } from "./truth.js";
import { releasedAt } from "./versions.js";

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
export function runsInsert(table: string, end: Date, seed: number): string {
  return `INSERT INTO ${table}
SELECT run, start, length, pace, hash, country, probe, release, test, probe_asn,
  concat(formatDateTime(toDateTime(start, 'UTC'), '%Y%m%dT%H%i%SZ'), '_',
    ${at(
      TESTS.map((test) => test.name.replaceAll("_", "")),
      "test",
    )}, '_',
    ${at(
      COUNTRIES.map((country) => country.code),
      "country",
    )}, '_', toString(probe_asn), '_n1_',
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
  return at(
    NETWORKS.map((network) => network[field]),
    "network",
  );
}

/** SQL for one of several expressions, by an index. */
function choose(index: string, expressions: readonly string[]): string {
  return `multiIf(${expressions.map((sql, value) => `${index} = ${value}, ${sql}`).join(", ")}, 0)`;
}

const LOCAL_HOUR = choose(
  "probe",
  PROBES.map((probe) => drawIndex(hourWeights(probe.startedBy), runHash("hour"))),
);
const UTC_OFFSET = at(
  COUNTRIES.map((country) => country.utcOffset),
  "country",
);
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
)} * ${at(
  PROBES.map((probe) => probe.lengthPercent),
  "probe",
)}, 100)`;
const MOST = at(
  TESTS.map((test) => Math.max(...test.lengths)),
  "test",
);
const IS_FAULTY = `probe = ${PROBES.indexOf(UNATTENDED_ANDROID)} AND release >= ${FAULTY_RELEASE}`;
const LEFT = `intDiv(least(${FULL_LENGTH}, ${MOST}) * if(${IS_FAULTY}, ${FAULT.lengthPercent}, 100) + 50, 100)`;
// a run that is under way at the end of the sample holds what was measured until then
const UNTIL_END = `intDiv(({end:UInt32} - start) * 1000, pace)`;
const LENGTH = `greatest(least(${LEFT}, ${UNTIL_END}), 1)`;
