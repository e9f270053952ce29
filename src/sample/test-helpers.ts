import { list } from "./draw.js";

/** The DNS zone of the test helpers; `<rdn>.<zone>` is the name that probes ask for. */
export const HELPER_ZONE = "th.probe.example";
/** The names in the zone, one live instance each. */
export const HELPERS: readonly string[] = ["0", "1", "2", "3"];

const REGIONS = ["fra1", "nyc3", "sgp1", "ams3"];
const INSTANCES = 31;
/** From the making of an instance until its name points to it and the older one drains. */
export const SWITCH_SECONDS = 3_600;

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
