import { asResult, seededCounts } from "../../support/change/counts.js";
import {
  anomalies,
  type AnomaliesFinding,
  between,
  changePoints,
  type Explanation,
  type Finding,
  type Result,
} from "../../../src/index.js";
import { changeMeasures } from "../../../src/change/cells/cells.js";
import { explainCells } from "../../../src/change/cells/explain.js";
import { changeColumns, tell } from "../../../src/change/finding.js";
import { valueOf, valueTexts, type ReleaseValue } from "../../../src/service/release.js";
import { hourlyResult, serviceCounts } from "../../support/change/flow-results.js";
import { generator, makeResult, single } from "./sample-results.js";

const WEEKS_8 = 1344;
const scaled = (values: readonly number[], from: number, to: number, by: number): number[] =>
  values.map((n, at) => (at >= from && at < to ? Math.round(n * by) : n));

/** Of three dimensions, a country that fell by half and a version that rose. */
export function explanation(): Explanation {
  const names = ["software_name", "software_version", "probe_cc"];
  const values = [
    ["probe-cli", "probe-android-unattended-with-a-name-that-is-far-too-long-for-one-line"],
    ["3.9.0", "3.9.1"],
    ["BR", "DE", "IT", "US"],
  ];
  const random = generator(5);
  const leaves = values[0]!.flatMap((_, a) =>
    values[1]!.flatMap((_, b) => values[2]!.map((_, c) => [a, b, c])),
  );
  const before = leaves.map(() => 2_000 + Math.round(3_000 * random()));
  const after = leaves.map(([a, , c], at) =>
    Math.round(
      before[at]! * (0.99 + 0.02 * random()) * (a === 1 && c === 2 ? 0.4 : c === 0 ? 1.25 : 1),
    ),
  );
  const { origin } = makeResult({ t: [] });
  return explainCells({
    kind: "flow",
    leaves: {
      sizes: values.map(({ length }) => length),
      codes: names.map((_, at) => Int32Array.from(leaves.map((leaf) => leaf[at]!))),
    },
    names,
    values,
    before: Float64Array.from(before),
    after: Float64Array.from(after),
    partBefore: Float64Array.from(before),
    partAfter: Float64Array.from(after),
    ratio: 1,
    label: "Measurements",
    unit: "measurements",
    source: "runs",
    rowNoun: "measurements",
    earlier: between("2026-04-17", "2026-04-24"),
    later: between("2026-04-24", "2026-05-01"),
    origin: { ...origin, range: between("2026-04-24", "2026-05-01") },
  });
}

/** What `compare` gives, of values that rose, fell, and are only in one range. */
export function comparison(): Finding {
  const rows: [string, string | null, number | null, number | null][] = [
    ["probe_cc", "IT", 41_200, 17_350],
    ["software_version", "3.9.1", 80_100, 55_020],
    [
      "software_version",
      "3.10.0-beta+a.build.name.without.any.space.that.goes.on.and.on.for.ever",
      0,
      9_800,
    ],
    ["probe_cc", null, 1_200, 3_300],
    ["probe_asn", "AS3269", 12_020, 4_100],
  ];
  const change = rows.map(([, , before, after]) => after! - before!);
  const result = makeResult(
    {
      dimension: rows.map(([dimension]) => dimension),
      value: rows.map(([, value]) => value),
      before: rows.map(([, , before]) => before),
      after: rows.map(([, , , after]) => after),
      change,
      low: change.map((one) => one - 1_500),
      high: change.map((one) => one + 1_500),
      relative: rows.map(([, , before], at) => (before === 0 ? null : change[at]! / before!)),
      part: change.map((one) => one / -23_000),
    },
    {
      dimensions: [
        { name: "dimension", order: ["probe_cc", "software_version", "probe_asn"] },
        { name: "value", order: rows.map(([, value]) => value) },
      ],
      measures: changeMeasures({ label: "Measurements", unit: "measurements" }, [
        ["relative", "Relative change", "share"],
        ["part", "Part of the whole's change", "share"],
      ]),
    },
    { reductions: ["The 5 of 48 values that stand out, or moved most beyond the whole."] },
  );
  const telling = tell(
    "probe_cc IT (−58 %) moved unlike the whole",
    "Measurements fell by 23,000 (8.1 %), from 284,000 to 261,000 in 24–30 Apr 2026 against 17–23 Apr 2026",
    [
      "Moved unlike the whole: probe_cc IT (−58 %); software_version 3.9.1 (−31 %); probe_asn AS3269 (−66 %)",
    ],
  );
  return { kind: "compare", found: true, ...telling, result };
}

/** Counts by the hour that fell by half. */
export function changes(): Promise<Finding> {
  return changePoints(asResult(seededCounts(31, "hour", 0.5)));
}

/** The same of eight groups, six of which dropped. */
export function manyChanges(): Promise<Finding> {
  const names = ["BR", "DE", "ES", "FR", "IT", "US", "VE", "ZA"];
  return changePoints(
    hourlyResult(
      Object.fromEntries(
        names.map((name, at) => {
          const values = serviceCounts(336, 20 + at);
          return [name, at < 6 ? scaled(values, 170 + 20 * at, 336, 0.4) : values];
        }),
      ),
    ),
  );
}

/** A drop, a gap, and the last hours late. */
export function alarmed(): Promise<AnomaliesFinding> {
  const values = scaled(scaled(serviceCounts(WEEKS_8, 3), 1_250, 1_258, 0.35), 1_310, 1_314, 0);
  return anomalies(hourlyResult({ "": values }), { since: "1 week", lag: "12 hours" });
}

/** Of two groups, one that stopped, and both silent at the end. */
export function alarmedGroups(): Promise<AnomaliesFinding> {
  const it = scaled(serviceCounts(WEEKS_8, 3), 1_270, 1_290, 0);
  const us = serviceCounts(WEEKS_8, 4);
  const silent = (values: number[]) => scaled(values, 1_336, WEEKS_8, 0);
  return anomalies(hourlyResult({ IT: silent(it), US: silent(us) }), { since: "1 week" });
}

export function funnel(): Finding {
  const rows: [string, number | null, number | null, number | null, number | null][] = [
    ["check-in", 20_400, 20_110, 1.0144, 1],
    ["submit", null, null, null, null],
    ["accepted", 18_900, 18_800, 0.926, 0.935],
    ["stored", 9_100, 18_750, 0.481, 0.997],
  ];
  const result: Result = makeResult(
    {
      step: rows.map(([step]) => step),
      now: rows.map(([, now]) => now),
      before: rows.map(([, , before]) => before),
      passed: rows.map(([, , , passed]) => passed),
      passed_before: rows.map(([, , , , usual]) => usual),
      change: rows.map(([, , , passed, usual]) => (passed === null ? null : passed / usual! - 1)),
    },
    {
      dimensions: [{ name: "step", order: rows.map(([step]) => step) }],
      measures: [single("now", "Now", "reports"), single("before", "The week before", "reports")],
    },
  );
  const telling = tell(
    "It is ingestion: reports are accepted and not stored",
    "−52 % against the week before, 24–30 Apr 2026",
    [],
  );
  return { kind: "funnel", found: true, ...telling, result };
}

/** A release whose runs end early, as fast as before, of too few runs to tell its failures. */
export function release(): Finding {
  const around = (value: number, half: number) => ({
    value,
    low: value - half,
    high: value + half,
  });
  const values = [
    valueOf("Run duration, median", "s", around(184, 7), around(73, 4)),
    valueOf("Measurements per run, median", "measurements", around(45, 1), around(18, 0)),
    valueOf("Seconds per measurement, median", "s", around(4.18, 0.1), around(4.24, 0.12)),
    valueOf("Share of failed measurements", "share", around(0.012, 0.009), around(0.008, 0.008)),
  ];
  const columns = Object.keys(values[0]!) as (keyof ReleaseValue)[];
  const result: Result = makeResult(
    Object.fromEntries(columns.map((name) => [name, values.map((value) => value[name])])),
    {
      dimensions: [{ name: "measure", order: values.map(({ measure }) => measure) }],
      measures: changeColumns([
        ["before", "3.9.1", ""],
        ["after", "probe-cli 3.10.0", ""],
        ["change", "Change", ""],
        ["low", "Low end of the 95 % interval", ""],
        ["high", "High end of the 95 % interval", ""],
        ["relative", "Change from 3.9.1", "share"],
      ]),
    },
  );
  const [first, ...more] = valueTexts(values);
  const telling = tell(`probe-cli 3.10.0${first!.headline}`, first!.evidence, [
    ...more.map(({ evidence }) => evidence),
    "2,834 runs against 1,412 of 3.9.1",
  ]);
  return { kind: "release", found: true, ...telling, result };
}
