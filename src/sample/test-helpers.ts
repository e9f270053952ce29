import { list } from "./draw.js";

/** The DNS zone of the test helpers; `<rdn>.<zone>` is the name that probes ask for. */
export const HELPER_ZONE = "th.probe.example";
/** The names in the zone, one live instance each. */
export const HELPERS: readonly string[] = ["0", "1", "2", "3"];

const REGIONS = ["fra1", "nyc3", "sgp1", "ams3"];
const INSTANCES = 31;
/** From the making of an instance until its name points to it and the older one drains. */
const SWITCH_SECONDS = 3_600;
/** The rotation that is planted: it comes so soon after the one before it, where a week is due. */
const [HASTY, HASTY_MINUTES] = [9, 40];
/** The instance that fails more, so many measurements in a thousand: the second newest, since its name points to it. */
const [FAILING, FAILING_PERMILLE, OTHERS_PERMILLE] = [1, 60, 12];
const FAILING_HELPER = `https://${HELPERS[FAILING]}.${HELPER_ZONE}`;

/**
 * SQL that makes the test helper instances: a new one every week, some hours off, two days before
 * {end:UInt32} at the latest. It takes over the name of the oldest, which then drains.
 */
export function testHelpersInsert(table: string): string {
  return `INSERT INTO ${table} (rdn, dns_zone, name, region, draining_at)
SELECT ${list(HELPERS)}[number % ${HELPERS.length} + 1], '${HELPER_ZONE}',
  concat('th-', toString(toYYYYMMDDhhmmss(toDateTime(${madeAt("number")}, 'UTC')))),
  ${list(REGIONS)}[cityHash64({seed:UInt64}, number, 'region') % ${REGIONS.length} + 1],
  if(number < ${HELPERS.length}, NULL, toDateTime(${madeAt(`number - ${HELPERS.length}`)} + ${SWITCH_SECONDS}, 'UTC'))
FROM numbers(${INSTANCES})`;
}

/** Seconds since 1970 at which the `index`-th newest instance was made. */
function madeAt(index: string): string {
  const drawn = (at: string) =>
    `toUInt32(toUInt64({end:UInt32}) - (${at}) * 604800 - 259200 + cityHash64({seed:UInt64}, toUInt64(${at}), 'rotation') % 36000)`;
  return `if(toInt64(${index}) = ${HASTY}, ${drawn(String(HASTY + 1))} + ${HASTY_MINUTES * 60}, ${drawn(index)})`;
}

const switchedAt = (index: number) => `(${madeAt(String(index))} + ${SWITCH_SECONDS})`;

/** SQL for the failed measurements per thousand, over the columns `test_helper_address` and `started`. */
export const FAILED_PERMILLE = `if(test_helper_address = '${FAILING_HELPER}' AND started >= ${switchedAt(FAILING)}, ${FAILING_PERMILLE}, ${OTHERS_PERMILLE})`;

/** What is planted. */
export const HELPER_FAULTS = [
  {
    name: "test-helper-fails-more",
    description: "Since its last rotation a test helper fails more often than the others.",
    since: switchedAt(FAILING),
    changes: `msm_failure of ${FAILING_HELPER} from ${OTHERS_PERMILLE / 10} % to ${FAILING_PERMILLE / 10} %`,
  },
  {
    name: "test-helpers-rotated-too-quickly",
    description: "A rotation came so soon after another that DNS could not follow.",
    since: switchedAt(HASTY),
    changes: `${HASTY_MINUTES} minutes after the rotation before it`,
  },
];
