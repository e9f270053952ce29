import { chart, postmortem, type Postmortem, table } from "../../src/index.js";
import {
  makeResult,
  versionSummary,
  weeklyCounts,
  weeklyDurations,
} from "../chart/support/sample-results.js";

export const NOW = "2026-05-05T10:00:00Z";

const small = { width: 300, height: 90 };

/** A postmortem with a chart of each kind and a table, made of results without a database. */
export function report(): Postmortem {
  const area = chart.area(weeklyCounts(), small);
  const line = chart.line(weeklyDurations(), {
    ...small,
    y: "q50",
    annotations: [chart.annotation("2026-03-18T09:00:00Z", "3.11.0 released")],
  });
  return postmortem({
    title: "Short runs after 3.11.0",
    severity: 2,
    detectedAt: "2026-03-20 08:40",
    respondedAt: "2026-03-20T09:00:00Z",
    authors: ["A. Operator", "B. Analyst"],
    summary: "Runs end early.\n\nNobody was hurt.",
    impact: ["40 % of the measurements", "no other probe"],
  })
    .add(area, { name: "counts", caption: "Measurements per week" })
    .finding("Runs of 3.11.0 are short", line)
    .timeline("2026-03-20 08:40", "Alarm", "https://alerts.example.org/a?b=1&c=2")
    .timeline("2026-03-18T11:00:00+02:00", "3.11.0 released", line)
    .add(table(versionSummary()), { name: "versions" })
    .add(chart.vegaLite(weeklyCounts(), FREE), { name: "free" })
    .action({
      what: "Alert on run length",
      type: "detect",
      owner: "A. Operator",
      due: "2026-06-01",
    });
}

const FREE = {
  mark: "rect",
  width: 200,
  height: 80,
  encoding: {
    x: { field: "t", timeUnit: "utcyearmonthdate", type: "ordinal" },
    y: { field: "software_version", type: "nominal" },
    color: { field: "measurements", type: "quantitative" },
  },
};

/** A result of log lines that hold addresses. */
export function logLines() {
  const lines = [
    ["203.0.113.7", "POST /report from 203.0.113.7 by jo@example.org"],
    ["203.0.113.8", "refused [2001:db8::1]:443"],
    ["api-1", "3.10.2 started at 10:00:00"],
  ];
  return makeResult(
    {
      host: lines.map(([host]) => host ?? ""),
      message: lines.map(([, message]) => message ?? ""),
      n: [1, 2, 3],
    },
    {
      dimensions: [{ name: "host", order: lines.map(([host]) => host ?? "") }],
      measures: [{ name: "n", label: "Lines", unit: "messages", additive: true, missing: "zero" }],
    },
    {
      sql: "SELECT host, message, count() AS n FROM logs WHERE message LIKE {where_1:String} GROUP BY host, message",
      parameters: { where_1: "%203.0.113.7%" },
      notes: ["Lines of 203.0.113.7 only."],
    },
  );
}
