import { COUNTRIES } from "./countries.js";
import { at } from "./draw.js";
import { NETWORKS } from "./networks.js";

/** For a while the pipeline can't write: it says so many times a minute, and reports are lost. */
export const PIPELINE_FAULT = {
  name: "accepted-reports-not-stored",
  program: "fastpath",
  /** When it begins, before the end of the sample. */
  hoursBeforeEnd: 60,
  minutes: 45,
  linesPerMinute: 30,
  /** Reports that the collector answered with 200 and that the table doesn't hold. */
  lostReports: 40,
} as const;

const { hoursBeforeEnd, minutes, linesPerMinute, lostReports } = PIPELINE_FAULT;
const LOG_COLUMNS = "__REALTIME_TIMESTAMP, SYSLOG_IDENTIFIER, PRIORITY, host, message";

/** SQL for the second, since 1970, at which it begins. */
const SINCE = `(toInt64({end:UInt32}) - ${hoursBeforeEnd * 3600})`;

/** SQL that writes what the pipeline said of it. */
export function pipelineErrorLogsInsert(table: string): string {
  const lines = minutes * linesPerMinute;
  return `INSERT INTO ${table} (${LOG_COLUMNS})
SELECT ${SINCE} * 1000000 + intDiv(number * ${minutes * 60_000_000}, ${lines}) + chance % 1000000,
  '${PIPELINE_FAULT.program}', 3, 'pipeline1',
  concat('cannot write ', toString(1 + chance % 40), ' measurements: too many parts (', toString(300 + bitShiftRight(chance, 8) % 40), ')')
FROM (SELECT number, cityHash64({seed:UInt64}, number, 'pipeline') AS chance FROM numbers(${lines}))`;
}

/** SQL that writes the submissions of the reports that were lost. */
export function lostReportLogsInsert(table: string): string {
  const network = `hash % ${NETWORKS.length}`;
  const country = at(
    NETWORKS.map((each) => COUNTRIES[each.country]?.code ?? "ZZ"),
    network,
  );
  const asn = at(
    NETWORKS.map((each) => each.asn),
    network,
  );
  return `INSERT INTO ${table} (${LOG_COLUMNS})
SELECT submitted * 1000000 + hash % 1000000, 'probe-api', 6, 'api1',
  concat('POST /report/', formatDateTime(toDateTime(submitted - 100, 'UTC'), '%Y%m%dT%H%i%SZ'), '_webconnectivity_',
    ${country}, '_', toString(${asn}), '_n1_', substring(hex(sipHash128({seed:UInt64}, number, 'lost')), 1, 16),
    ' from 203.0.113.', toString(1 + bitShiftRight(hash, 20) % 254), ': 200, ', toString(20 + bitShiftRight(hash, 30) % 20), ' measurements')
FROM (
  SELECT number, cityHash64({seed:UInt64}, number, 'lost') AS hash,
    ${SINCE} + intDiv(number * ${minutes * 60}, ${lostReports}) + hash % 60 AS submitted
  FROM numbers(${lostReports})
)`;
}

/** SQL that writes the fault into a truth table; it concerns no software of probes. */
export function pipelineTruthInsert(table: string): string {
  return `INSERT INTO ${table} SELECT '${PIPELINE_FAULT.name}',
  'For a while the pipeline could not write: its errors are a burst in the logs, and reports that the collector accepted are not stored.', '', '',
  toDateTime(${SINCE}, 'UTC'),
  '${PIPELINE_FAULT.program} logs ${linesPerMinute} errors a minute for ${minutes} minutes; ${lostReports} reports accepted and not stored', 1, 1, 1`;
}
