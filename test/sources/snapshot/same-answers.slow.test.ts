import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { between, explain, type Lab } from "../../../src/index.js";
import { newDatabase } from "../../support/own-database.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { held, HOUR, question, START, told } from "./questions.js";
import { KINDS, makeRows } from "./rows.js";

describe.each(KINDS.map((kind) => [`${kind.time}, ${kind.report}, ${kind.engine}`, kind] as const))(
  "a snapshot of %s",
  (_name, kind) => {
    it("answers every question as the table itself", async () => {
      await using table = await newDatabase();
      await using directory = await temporaryDirectory();
      await makeRows(table.writer, kind);
      await using lab = await table.open();
      const snapshot = await lab.snapshot({ range: held, into: `embedded:${directory.path}` });
      expect(snapshot.size.measurements).toBeGreaterThan(1000);
      await fc.assert(
        fc.asyncProperty(question, async (ask) => {
          const [wanted, found] = await Promise.all([ask(lab), ask(snapshot)]);
          expect(found.rows()).toEqual(wanted.rows());
          expect(told(found)).toEqual(told(wanted));
        }),
        { seed: 15, numRuns: 8 },
      );
      const days = (from: number, to: number) =>
        between(new Date(START + from * HOUR), new Date(START + to * HOUR));
      const asked = { before: days(0, 48), after: days(48, 96) };
      const explained = (room: "measurements" | "runs") =>
        Promise.all([lab, snapshot].map((one) => explain(one[room] as Lab["measurements"], asked)));
      const [runs, heldRuns] = await explained("runs");
      expect(heldRuns!.result.rows()).toEqual(runs!.result.rows());
      // Hourly counts have no runs to learn the noise from: the same change, and a note that says so.
      const [counts, heldCounts] = await explained("measurements");
      expect([heldCounts!.before, heldCounts!.after]).toEqual([counts!.before, counts!.after]);
      expect(heldCounts!.result.origin.notes.join(" ")).toMatch(
        /how many measurements a run holds is unknown/,
      );
    });
  },
);
