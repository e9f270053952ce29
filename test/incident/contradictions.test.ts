import { expect, test } from "vitest";
import { between, explain, postmortem, type TimeRange } from "../../src/index.js";
import { previewMarkdown, documentBlocks } from "../../src/incident/document.js";
import { ownDatabase } from "../support/own-database.js";

const database = ownDatabase();
const END = Date.parse("2026-05-28T00:00:00Z");
const DAY = 86_400_000;
const days = (from: number, to: number): TimeRange =>
  between(new Date(END - from * DAY), new Date(END - to * DAY));

test("findings that say opposite things of one measure are put side by side with their ranges", async () => {
  // Rows fell by nearly half four weeks ago, and the last week held more than the one before it.
  await database.writer.command(
    `CREATE TABLE fastpath ENGINE = MergeTree ORDER BY measurement_start_time AS
     SELECT toDateTime('2026-05-28 00:00:00', 'UTC') - 60 * (number + 1) AS measurement_start_time,
       toString(number) AS report_id, ['IT', 'FR'][1 + cityHash64(1, number) % 2] AS probe_cc
     FROM numbers(92 * 1440)
     WHERE cityHash64(2, number) % 100 < multiIf(number < 7 * 1440, 58, number < 28 * 1440, 50, 90)`,
  );
  await using lab = await database.open();
  const drop = await explain(lab.measurements, { before: days(35, 28), after: days(7, 0) });
  const rise = await explain(lab.measurements, { before: days(14, 7), after: days(7, 0) });
  const ofItaly = await explain(lab.measurements, {
    ...{ before: days(35, 28), after: days(7, 0) },
    where: { probe_cc: "IT" },
  });
  const report = postmortem({ title: "A fall", severity: 3, detectedAt: "2026-05-28" });
  report.finding(rise).finding(ofItaly).finding("Nothing else is known.");
  expect(String(report)).not.toMatch(/These two/);
  report.finding(drop);
  const { draft, figures } = report;
  const text = previewMarkdown(
    documentBlocks(draft, figures, { at: new Date(END), missing: false }),
  );
  expect(text.match(/These two .*/g)).toEqual([
    expect.stringMatching(
      /^These two compare different ranges: measurements rose by 1\d % in 21–27 May 2026 against 14–20 May 2026, and fell by 3\d % in 21–27 May 2026 against 23–29 Apr 2026\.$/,
    ),
  ]);
  // What rows that came late changed: the ranges are the same.
  const earlier = { ...rise, moved: rise.moved!.map((one) => ({ ...one, change: -1 })) };
  const late = postmortem({ title: "A fall", severity: 3, detectedAt: "2026-05-28" });
  expect(String(late.finding(earlier).finding(rise))).toMatch(/These two compare the same ranges/);
  report.withdraw(drop.headline);
  expect(String(report)).not.toMatch(/These two/);
});
