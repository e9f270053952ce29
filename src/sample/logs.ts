import { list, ofKind } from "./draw.js";
import { keptRuns } from "./runs.js";
import { COUNTRIES, HELPER_ZONE, HELPERS, NETWORKS, ofRelease, TESTS } from "./service.js";

/**
 * SQL that writes the log lines of the runs that `keptRuns` gives: the check-in that a run begins
 * with, the submission of its report, and what the test helper says to it.
 */
export function runLogsInsert(table: string, runs: string): string {
  return `INSERT INTO ${table} (${LOG_COLUMNS})
SELECT line.1, line.2, line.3, line.4, line.5
FROM (
  SELECT *, ${ofRelease(({ name }, { version }) => `${name}/${version}`)} AS software,
    ${ofKind(COUNTRIES, (country) => country.code, "country")} AS cc,
    cityHash64(hash, 'log') AS chance, ${ADDRESS} AS address,
    ${ofKind(TESTS, (test) => (test.inputs === "urls" ? 1 : 0), "test")} AS asks_helper, ${list(HELPERS)}[hash % ${HELPERS.length} + 1] AS helper
  FROM (${keptRuns(runs)})
) ARRAY JOIN arrayFilter(each -> each.1 > 0 AND each.1 < {end:UInt32} * 1000000, [
  ${CHECK_IN},
  ${SUBMISSION},
  ${HELPER_LINE}
]) AS line`;
}

/** SQL that writes {lines:UInt64} lines of programs that know nothing of runs, in [{start:UInt32}, {end:UInt32}). */
export function otherLogsInsert(table: string): string {
  return `INSERT INTO ${table} (${LOG_COLUMNS})
SELECT line.1, line.2, line.3, line.4, line.5
FROM (
  SELECT {start:UInt32} * 1000000 + intDiv(number * ({end:UInt32} - {start:UInt32}), {lines:UInt64}) * 1000000
      + chance % 1000000 AS time,
    cityHash64({seed:UInt64}, number, 'other') AS chance, bitShiftRight(chance, 32) AS value
  FROM numbers_mt({lines:UInt64})
) ARRAY JOIN [${OTHER_LINE}] AS line`;
}

/** SQL that writes what the rotation tool said on each rotation in [{start:UInt32}, {end:UInt32}). */
export function rotationLogsInsert(table: string, testHelpers: string): string {
  return `INSERT INTO ${table} (${LOG_COLUMNS})
SELECT toInt64(toUnixTimestamp(assumeNotNull(draining_at))) * 1000000, 'rotation', 6, 'control',
  concat('draining ', name, ', the oldest live instance of ', rdn, '.', dns_zone, ' in ', region)
FROM ${testHelpers}
WHERE draining_at >= toDateTime({start:UInt32}) AND draining_at < toDateTime({end:UInt32})`;
}

const LOG_COLUMNS = "__REALTIME_TIMESTAMP, SYSLOG_IDENTIFIER, PRIORITY, host, message";
// of the ranges that RFC 5737 keeps for documentation
const ADDRESS = "concat('203.0.113.', toString(1 + hash % 254))";

const CHECK_IN = `(if(asks_helper = 1, toInt64(start) * 1000000 - 300000 - chance % 1500000, 0), 'probe-api',
    toUInt8(if(chance % 500 = 0, 4, 6)), 'api1',
    if(chance % 500 = 0, concat('check-in ', software, ' from ', address, ': no country for this address, 100 URLs of ZZ'),
      concat('check-in ', software, ' probe_cc=', cc, ' probe_asn=AS', toString(probe_asn), ' from ', address, ': ',
        toString(if(bitShiftRight(chance, 20) % 100 < 94, 100, 20 + bitShiftRight(chance, 30) % 80)), ' URLs')))`;
const SUBMISSION = `(toInt64(start) * 1000000 + pace * kept * 1000 + 500000 + chance % 400000, 'probe-api',
    toUInt8(if(bitShiftRight(chance, 10) % 300 = 0, 3, 6)), 'api1',
    concat('POST /report/', report_id, ' from ', address,
      if(bitShiftRight(chance, 10) % 300 = 0, ': 502, the queue is full', concat(': 200, ', toString(kept), ' measurements'))))`;
const HELPER_LINE = `(if(asks_helper = 1, toInt64(start) * 1000000 + bitShiftRight(chance, 12) % 1000000, 0), 'test-helper',
    toUInt8(if(bitShiftRight(chance, 40) % 80 = 0, 4, 6)), concat(helper, '.${HELPER_ZONE}'),
    if(bitShiftRight(chance, 40) % 80 = 0, concat('request from ', address, ' timed out'),
      concat('answered ', address, ' in ', toString(80 + bitShiftRight(chance, 44) % 900), ' ms')))`;

const OTHER_LINE = `multiIf(
    chance % 100 < 45, (time, 'fastpath', 6, 'pipeline1', concat('processed ', toString(100 + value % 900), ' measurements, lag ', toString(value % 7), ' s')),
    chance % 100 < 75, (time, 'nginx', 6, 'api1', concat('198.51.100.', toString(1 + value % 254), ' "GET /api/v1/test-list/urls?country_code=', ${ofKind(COUNTRIES, (country) => country.code, `value % ${COUNTRIES.length}`)}, '&debug=True" 200 ', toString(9000 + value % 90000))),
    chance % 100 < 87, (time, 'systemd', 6, 'api1', 'Started the hourly clean-up of temporary files.'),
    chance % 100 < 95, (time, 'sshd', 5, 'control', concat('Connection closed by 192.0.2.', toString(1 + value % 254), ' [preauth]')),
    chance % 100 < 99, (time, 'cron', 6, 'pipeline1', '(root) CMD (backup of the metadata)'),
    (time, 'fastpath', 4, 'pipeline1', concat('skipped a malformed body of ', toString(value % 4096), ' bytes')))`;

/** For a while the pipeline can't write: it says so many times a minute, and reports are lost. */
const [HOURS_BEFORE_END, MINUTES, LINES_PER_MINUTE, LOST_REPORTS] = [60, 45, 30, 40];
const LINES = MINUTES * LINES_PER_MINUTE;
/** SQL for the second, since 1970, at which it begins. */
const SINCE = `(toInt64({end:UInt32}) - ${HOURS_BEFORE_END * 3600})`;

/** What is planted; it concerns no software of probes. */
export const PIPELINE_FAULT = {
  name: "accepted-reports-not-stored",
  description:
    "For a while the pipeline could not write: its errors are a burst in the logs, and reports that the collector accepted are not stored.",
  since: SINCE,
  changes: `fastpath logs ${LINES_PER_MINUTE} errors a minute for ${MINUTES} minutes; ${LOST_REPORTS} reports accepted and not stored`,
};

/** SQL that writes what the pipeline said of it. */
export function pipelineErrorLogsInsert(table: string): string {
  return `INSERT INTO ${table} (${LOG_COLUMNS})
SELECT ${SINCE} * 1000000 + intDiv(number * ${MINUTES * 60_000_000}, ${LINES}) + chance % 1000000,
  'fastpath', 3, 'pipeline1',
  concat('cannot write ', toString(1 + chance % 40), ' measurements: too many parts (', toString(300 + bitShiftRight(chance, 8) % 40), ')')
FROM (SELECT number, cityHash64({seed:UInt64}, number, 'pipeline') AS chance FROM numbers(${LINES}))`;
}

/** SQL that writes the submissions of the reports that were lost: the collector answers 200, and the table doesn't hold them. */
export function lostReportLogsInsert(table: string): string {
  const network = `hash % ${NETWORKS.length}`;
  const country = ofKind(NETWORKS, (each) => COUNTRIES[each.country]!.code, network);
  const asn = ofKind(NETWORKS, (each) => each.asn, network);
  return `INSERT INTO ${table} (${LOG_COLUMNS})
SELECT submitted * 1000000 + hash % 1000000, 'probe-api', 6, 'api1',
  concat('POST /report/', formatDateTime(toDateTime(submitted - 100, 'UTC'), '%Y%m%dT%H%i%SZ'), '_webconnectivity_',
    ${country}, '_', toString(${asn}), '_n1_', substring(hex(sipHash128({seed:UInt64}, number, 'lost')), 1, 16),
    ' from 203.0.113.', toString(1 + bitShiftRight(hash, 20) % 254), ': 200, ', toString(20 + bitShiftRight(hash, 30) % 20), ' measurements')
FROM (
  SELECT number, cityHash64({seed:UInt64}, number, 'lost') AS hash,
    ${SINCE} + intDiv(number * ${MINUTES * 60}, ${LOST_REPORTS}) + hash % 60 AS submitted
  FROM numbers(${LOST_REPORTS})
)`;
}
