import { created, HASTY_ROTATION, HELPER_ZONE, HELPERS, SWITCH_SECONDS } from "./test-helpers.js";

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
