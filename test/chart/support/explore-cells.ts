import { buckets } from "../../../src/time/bucket.js";
import type { Result, Value } from "../../../src/index.js";
import {
  columnsOf,
  counted,
  RANGE,
  VERSIONS,
  generator,
  incompleteOf,
  makeResult,
} from "./sample-results.js";

const COUNTRIES = ["IT", "DE", "RU", "IR", "BR", "US", "CN", null, "other"];
const TESTS = ["web_connectivity", "whatsapp", "telegram", "ndt", ""];

/**
 * What `lab.measurements.explore` answers: versions come and go, one country falls out in April,
 * and there is nothing in the week of 9 March.
 */
export function exploreCells(): Result {
  const every = "week";
  const random = generator(3);
  const steps = buckets(RANGE, every);
  const rows: Record<string, Value>[] = [];
  for (const [step, { start, complete }] of steps.entries()) {
    if (start.getTime() === Date.UTC(2026, 2, 9)) continue;
    for (const [v, software_version] of VERSIONS.entries()) {
      const age = (13 * step) / steps.length - 2 * v + 2;
      if (age < 0) continue;
      for (const [c, probe_cc] of COUNTRIES.entries()) {
        for (const [n, test_name] of TESTS.entries()) {
          const falls = probe_cc === "RU" && start >= new Date("2026-04-06") ? 0.2 : 1;
          const uptake = 1 / (1 + Math.exp(2 - age)) / (1 + Math.exp(age - 5));
          const size = (9000 * uptake * falls * (complete ? 1 : 0.4)) / (1 + c) / (1 + n);
          const measurements = Math.round(size * (0.8 + 0.4 * random()));
          if (measurements === 0) continue;
          rows.push({ t: start, software_version, probe_cc, test_name, measurements });
        }
      }
    }
  }
  return makeResult(
    columnsOf(rows),
    {
      time: { name: "t", every, incomplete: incompleteOf(RANGE, every) },
      dimensions: [
        { name: "software_version", order: VERSIONS },
        { name: "probe_cc", order: COUNTRIES, other: "other" },
        { name: "test_name", order: TESTS },
      ],
      measures: [{ ...counted("measurements", "Measurements"), main: true }],
    },
    {
      reductions: [
        "Named are the largest (by measurements): 8 of 61 values of probe_cc; the others are merged.",
      ],
      notes: [
        "By week, the finest bucket for fewer than 5,000 rows.",
        "The weeks of 26 Jan 2026 and 27 Apr 2026 are covered only in part by the range.",
      ],
    },
  );
}
