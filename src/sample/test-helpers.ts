import { list } from "./draw.js";

/** The DNS zone of the test helpers; `<rdn>.<zone>` is the name that probes ask for. */
export const HELPER_ZONE = "th.probe.example";
/** The names in the zone, one live instance each. */
export const HELPERS: readonly string[] = ["0", "1", "2", "3"];

const REGIONS = ["fra1", "nyc3", "sgp1", "ams3"];
const INSTANCES = 31;
/** From the making of an instance until its name points to it and the older one drains. */
const SWITCH_SECONDS = 3_600;

/**
 * SQL that makes the test helper instances: a new one every week, some hours off, two days before
 * {end:UInt32} at the latest. It takes over the name of the oldest, which then drains. One comes too
 * soon after another, as `HASTY_ROTATION` says.
 */
export function testHelpersInsert(table: string): string {
  return `INSERT INTO ${table} (rdn, dns_zone, name, region, draining_at)
SELECT ${list(HELPERS)}[number % ${HELPERS.length} + 1], '${HELPER_ZONE}',
  concat('th-', toString(toYYYYMMDDhhmmss(toDateTime(${created("number")}, 'UTC')))),
  ${list(REGIONS)}[cityHash64({seed:UInt64}, number, 'region') % ${REGIONS.length} + 1],
  if(number < ${HELPERS.length}, NULL, toDateTime(${created(`number - ${HELPERS.length}`)} + ${SWITCH_SECONDS}, 'UTC'))
FROM numbers(${INSTANCES})`;
}

/** The rotation that is planted: it comes minutes after the one before it, where a week is due. */
export const HASTY_ROTATION = { index: 9, minutesAfter: 40 } as const;

/** Seconds since 1970 at which the `index`-th newest instance was made. */
export function created(index: string): string {
  const { index: hasty, minutesAfter } = HASTY_ROTATION;
  const before = drawnTime(String(hasty + 1));
  return `if(toInt64(${index}) = ${hasty}, ${before} + ${minutesAfter * 60}, ${drawnTime(index)})`;
}

function drawnTime(index: string): string {
  const hours = `cityHash64({seed:UInt64}, toUInt64(${index}), 'rotation') % 36000`;
  return `toUInt32(toUInt64({end:UInt32}) - (${index}) * 604800 - 259200 + ${hours})`;
}

/** The instance that fails more: the second newest, since its name points to it. */
const FAILING_INSTANCE = 1;

/** What `test_helper_address` says of the test helper that fails more often than the others. */
export const FAILING_HELPER = `https://${HELPERS[FAILING_INSTANCE % HELPERS.length]}.${HELPER_ZONE}`;

/** Failed measurements, per thousand: of the failing helper, and of all others. */
export const FAILED_PERMILLE = { failing: 60, others: 12 } as const;

/** SQL for the second, since 1970, at which the helper begins to fail. */
const SINCE = `(${created(String(FAILING_INSTANCE))} + ${SWITCH_SECONDS})`;

/** SQL for the failed measurements per thousand, over the columns `test_helper_address` and `started`. */
export const FAILED_PERMILLE_SQL = `if(test_helper_address = '${FAILING_HELPER}' AND started >= ${SINCE}, ${FAILED_PERMILLE.failing}, ${FAILED_PERMILLE.others})`;

/** SQL that writes the planted faults of the test helpers into a truth table; they concern no software. */
export function helperTruthInsert(table: string): string {
  const { index, minutesAfter } = HASTY_ROTATION;
  const { failing, others } = FAILED_PERMILLE;
  return `INSERT INTO ${table} SELECT * FROM (
  SELECT 'test-helper-fails-more', 'Since its last rotation a test helper fails more often than the others.', '', '',
    toDateTime(${SINCE}, 'UTC'), 'msm_failure of ${FAILING_HELPER} from ${others / 10} % to ${failing / 10} %', 1, 1, 1
  UNION ALL
  SELECT 'test-helpers-rotated-too-quickly', 'A rotation came so soon after another that DNS could not follow.', '', '',
    toDateTime(${created(String(index))} + ${SWITCH_SECONDS}, 'UTC'), '${minutesAfter} minutes after the rotation before it', 1, 1, 1
)`;
}
