import { afterAll, beforeAll, expect, it } from "vitest";
import { connect } from "../../src/lab/connect.js";
import { count, distinct } from "../../src/query/measure.js";
import type { Snapshot } from "../../src/snapshot/snapshot.js";
import { between } from "../../src/time/time-range.js";
import { deployments, describeDeployment } from "../deployments/deployment.js";
import { END, logLines, measuredRows, START } from "../deployments/rows.js";
import { makeTables, sourceOf, tablesOf } from "../deployments/tables.js";
import { embeddedDatabase } from "../support/embedded-database.js";
import { READERS, restrictedServer, type RestrictedServer } from "../support/restricted-server.js";

const kept = embeddedDatabase();
let server: RestrictedServer;
beforeAll(async () => {
  server = await restrictedServer(READERS, { max_threads: 1 });
});
afterAll(() => server[Symbol.asyncDispose]());

const HOUR = 3_600_000;
/** The answer, or the sentence that refuses the question (as where times are dates, which tell no durations). */
const told = async (asked: Promise<{ rows(): unknown }>) =>
  asked.then(
    (result) => result.rows(),
    (error: Error) => error.message,
  );

it.each(deployments(39).map((one) => [describeDeployment(one), one] as const))(
  "a snapshot answers as the table of %s",
  async (_name, one) => {
    const rows = measuredRows(one);
    await makeTables(server.admin, one, rows, logLines(one, rows));
    await using lab = await connect({ measurements: sourceOf(server, one), tables: tablesOf(one) });
    const range = between(
      new Date(Math.floor(START / 1000 / HOUR) * HOUR),
      new Date(Math.ceil(END / 1000 / HOUR) * HOUR),
    );
    const snapshot = await lab.snapshot({
      range,
      name: `d${one.id}`,
      into: `embedded:${kept.directory.path}`,
    });
    const questions = (of: Pick<Snapshot, "measurements" | "runs">) => [
      of.measurements.counts({ range, every: "week", by: "software_name" }),
      of.measurements.counts({
        range,
        every: "day",
        by: ["software_version", "probe_asn"],
        top: 4,
      }),
      of.measurements.counts({
        range,
        every: "all",
        where: { software_name: ["probe-cli", "naïve`tick"] },
      }),
      of.measurements.ask({
        range,
        every: "week",
        measures: { n: count(), d: distinct("software_version") },
      }),
      of.measurements.firstSeen({ range, by: "software_name" }),
      of.measurements.summary({ range }),
      of.measurements.runDurations({ range, every: "week", by: "software_name" }),
      of.runs.ask({
        range,
        every: "day",
        where: { measurements: { above: 1 } },
        measures: { n: count() },
      }),
    ];
    const [wanted, found] = await Promise.all(
      [lab, snapshot].map((of) => Promise.all(questions(of).map(told))),
    );
    expect(found).toEqual(wanted);
  },
);
