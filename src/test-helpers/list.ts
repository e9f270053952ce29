import { answerOrigin, type Database } from "../database/database.js";
import { refuseUnknown } from "../base/check-options.js";
import { Result } from "../result/result.js";
import { between } from "../time/time-range.js";
import { readInstances, WHOLE_TABLE, type Instance } from "./instances.js";

/** What `lab.testHelpers.list` takes. */
export interface ListOptions {
  /** Most rows, default 8: those of the greatest names. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** A row of `list`: an instance. */
export type HelperRow = {
  rdn: string;
  dns_zone: string;
  name: string;
  region: string;
  draining_at: Date | null;
};

/** `lab.testHelpers.list`: see {@link TestHelpers.list}. */
export async function list(
  database: Database,
  now: Date,
  options: ListOptions = {},
): Promise<Result<HelperRow>> {
  refuseUnknown(options, ["limit", "signal"], "list the test helpers");
  const { limit = 8, signal } = options;
  const read = await readInstances(database, {
    limit,
    action: "list the test helpers",
    ...(signal && { signal }),
  });
  const { instances, total } = read;
  const columns = {
    rdn: instances.map((each) => each.rdn),
    dns_zone: instances.map((each) => each.dnsZone),
    name: instances.map((each) => each.name),
    region: instances.map((each) => each.region),
    draining_at: instances.map((each) => each.drainingAt),
  };
  const aq = await import("arquero");
  return new Result(aq.table(columns), {
    ...answerOrigin(database, read, spanOf(instances, now), read.answer),
    columns: {
      dimensions: (["rdn", "dns_zone", "name", "region"] as const).map((name) => ({
        name,
        order: [...new Set(columns[name])],
      })),
      measures: [],
    },
    reductions:
      total > instances.length
        ? [`The ${instances.length} greatest names of ${total} test helpers.`]
        : [],
    notes: [WHOLE_TABLE, ...(total === 0 ? ["The table of test helpers holds no instance."] : [])],
  });
}

/** From the first that is known of the instances until now. */
function spanOf(instances: readonly Instance[], now: Date) {
  const times = instances.flatMap(({ madeAt, drainingAt }) =>
    [madeAt, drainingAt].flatMap((time) => (time === null ? [] : [time.getTime()])),
  );
  const first = Math.min(...times, now.getTime() - 1);
  return between(new Date(Math.max(0, first)), now);
}
