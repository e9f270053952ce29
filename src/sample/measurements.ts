import { COUNTRIES } from "./countries.js";
import { at, ofKind } from "./draw.js";
import { ofRelease, PROBES } from "./probes.js";
import { FAILED_PERMILLE_SQL, HELPER_ZONE, HELPERS } from "./test-helpers.js";
import { TESTS } from "./tests.js";
import { DOMAINS, INPUT_SPANS, INPUTS, PRIORITY_SITES } from "./urls.js";

/**
 * SQL that makes the measurements of the runs that start in [{from:UInt32}, {to:UInt32}), seconds
 * since 1970, cut to size as `keptRuns` says.
 */
export function measurementsInsert(table: string, runs: string): string {
  return `INSERT INTO ${table} (${[...Object.keys(OF_RUN), ...Object.keys(OF_MEASUREMENT)].join(", ")})
SELECT ${Object.keys(OF_RUN).join(", ")},
  ${columns(OF_MEASUREMENT)}
FROM (
  SELECT *, ${STARTED} AS started, ${ITEM} AS item, ${BLOCKED} AS is_blocked,
    is_blocked AND chance % 20 > 0 OR bitShiftRight(chance, 8) % 100 < 2 AS is_anomaly
  FROM (
    SELECT *, step, cityHash64(hash, step) AS chance
    FROM (
      SELECT kept, hash, start, pace, test, country, ${ofKind(COUNTRIES, (country) => country.blocked, "country")} AS blocked,
        ${ofKind(TESTS, (test) => Object.keys(INPUT_SPANS).indexOf(test.inputs), "test")} AS inputs, hash % 1009 AS offset,
        1 + bitShiftRight(hash, 20) % 1097 AS stride, ${UID_END} AS uid_end,
        ${columns(OF_RUN)}
      FROM (${keptRuns(runs)})
    ) ARRAY JOIN range(kept) AS step
  )
)`;
}

/**
 * SQL of the runs that start in [{from:UInt32}, {to:UInt32}). The last run of the sample,
 * {last:UInt32}, gives up {excess:UInt16} measurements, so that the sample has exactly the size
 * that was asked for; `kept` is the number of measurements that are left.
 */
export function keptRuns(runs: string): string {
  return `SELECT *, length - if(run = {last:UInt32}, {excess:UInt16}, 0) AS kept FROM ${runs}
    WHERE start >= {from:UInt32} AND start < {to:UInt32} AND run <= {last:UInt32}`;
}

const { urls, resolvers, stun, none } = INPUT_SPANS;

/** A text column of a run, as a dictionary: it is repeated for each measurement. */
function word(sql: string): string {
  return `CAST(${sql}, 'LowCardinality(String)')`;
}

const UID_END = `concat('_', ${ofKind(COUNTRIES, (country) => country.code, "country")}, '_', ${ofKind(TESTS, (test) => test.name.replaceAll("_", ""), "test")}, '_')`;

/** What all measurements of a run have in common. */
const OF_RUN = {
  report_id: "report_id",
  probe_cc: word(ofKind(COUNTRIES, (country) => country.code, "country")),
  probe_asn: "probe_asn",
  test_name: word(ofKind(TESTS, (test) => test.name, "test")),
  test_version: word(ofKind(TESTS, (test) => test.version, "test")),
  test_start_time: "start - 1",
  software_name: word(ofKind(PROBES, (probe) => probe.name, "probe")),
  software_version: word(ofRelease((_, release) => release.version)),
  engine_name: "CAST('probe-engine', 'LowCardinality(String)')",
  engine_version: word(ofRelease((_, release) => release.engine)),
  platform: ofDevice("platform"),
  architecture: ofDevice("architecture"),
  test_helper_type: word(ofKind(TESTS, (test) => (test.usesHelper ? "https" : ""), "test")),
};

function ofDevice(part: "platform" | "architecture"): string {
  const texts = PROBES.flatMap(({ platforms }) =>
    Array.from({ length: 4 }, (_, index) => {
      const [platform = "", architecture = ""] =
        platforms[index % platforms.length]?.split("/") ?? [];
      return part === "platform" ? platform : architecture;
    }),
  );
  return word(at(texts, "(probe * 4 + bitShiftRight(hash, 40) % 4)"));
}

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
  msm_failure: `if(bitShiftRight(chance, 16) % 1000 < ${FAILED_PERMILLE_SQL}, 't', 'f')`,
  test_runtime: "toFloat32(intDiv(pace, 10) * (60 + bitShiftRight(chance, 44) % 32) / 10000)",
  test_helper_address: `if(test_helper_type = '', '', ${ofKind(HELPERS, (rdn) => `https://${rdn}.${HELPER_ZONE}`, `bitShiftRight(chance, 54) % ${HELPERS.length}`)})`,
};

function columns(named: Readonly<Record<string, string>>): string {
  return Object.entries(named)
    .map(([name, sql]) => (name === sql ? name : `${sql} AS ${name}`))
    .join(",\n  ");
}
