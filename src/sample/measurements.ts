import { COUNTRIES } from "./countries.js";
import { at, ofKind } from "./draw.js";
import { ofRelease, PROBES } from "./probes.js";
import { keptRuns } from "./runs.js";
import { FAILED_PERMILLE, HELPER_ZONE, HELPERS } from "./test-helpers.js";
import { DOMAINS, INPUT_SPANS, INPUTS, PRIORITY_SITES, TESTS } from "./tests.js";

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

const COUNTRY = ofKind(COUNTRIES, ({ code }) => code, "country");

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
