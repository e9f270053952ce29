import { between, type Chart, chart } from "../../../src/index.js";
import { exploreCells } from "./explore-cells.js";
import {
  columnsOf,
  counted,
  generator,
  makeResult,
  single,
  versionSummary,
  weeklyCounts,
  weeklyDurations,
} from "./sample-results.js";

/** The size of most. */
export const small = { width: 420, height: 130 };
export const annotations = [
  chart.annotation("2026-03-18T09:00:00Z", "3.11.0 released"),
  chart.annotation("2026-03-24", "alarm"),
];
// Four at nearly the same time, one at each edge, and one with a long name.
const crowded = [
  chart.annotation("2026-01-26", "range begins"),
  chart.annotation("2026-03-18T09:00:00Z", "3.11.0 released"),
  chart.annotation("2026-03-18T10:00:00Z", "3.11.0 halted"),
  chart.annotation("2026-03-19", "alarm"),
  chart.annotation(
    "2026-03-20",
    "a rollback of the release to all probes of the second and third stage",
  ),
  chart.annotation("2026-04-27", "all clear"),
];
const rome = between("2026-03-28", "2026-03-31", { timeZone: "Europe/Rome" });

const two = weeklyDurations().filter((row) =>
  ["3.8.2", "3.11.0"].some((version) => version === row["software_version"]),
);

/** A chart's SVG, without where it comes from, which names the versions. */
export async function pictureOf(drawn: Chart): Promise<string> {
  return (await drawn.svg()).replace(/<metadata>.*?<\/metadata>/s, "");
}

/** Every kind of chart, in both themes. */
export const PICTURES = {
  explore: chart.explore(exploreCells()),
  "area-share": chart.area(weeklyCounts(), { ...small, stack: "normalize" }),
  "bar-horizontal": chart.bar(tests(), { interval: ["low", "high"], width: 420 }),
  "facet-area": chart.area(weeklyCounts(), { facet: "software_version", width: 560 }),
  "facet-own-dark": chart.line(weeklyDurations(), {
    y: "q50",
    band: ["q10", "q90"],
    facet: "software_version",
    scales: "own",
    width: 560,
    theme: "dark",
    annotations,
  }),
  histogram: chart.histogram(spread(["android"]), small),
  "histogram-groups": chart.histogram(spread(["android", "cli"]), small),
  "heatmap-hours": chart.heatmap(hours()),
  "heatmap-weeks-dark": chart.heatmap(weeklyDurations(), {
    width: 420,
    color: "q50",
    theme: "dark",
  }),
  "line-band": chart.line(two, { ...small, y: "q50", band: ["q10", "q90"] }),
  "line-measures": chart.line(two, {
    ...small,
    y: { value: ["q10", "q50", "q90"], label: "Seconds" },
  }),
  "dot-intervals": chart.dot(two, { ...small, y: "q50", interval: ["q10", "q90"] }),
  "area-light": chart.area(weeklyCounts(), small),
  "area-rome": chart.area(weeklyCounts({ range: rome, every: "hour" }), small),
  "line-span": chart.line(weeklyDurations(), {
    ...small,
    y: "q50",
    annotations: [chart.annotation("2026-03-18T09:00:00Z", "incident", "2026-03-30")],
    reference: { value: 900, label: "15 minutes" },
  }),
  "line-log": chart.line(weeklyDurations(), { ...small, y: { value: "runs", type: "log" } }),
  "line-dense": chart.line(dense(), { ...small, title: "Load by host" }),
  "bar-light": chart.bar(weeklyCounts(), small),
  "bar-category": chart.bar(versionSummary(), { height: 170 }),
  "line-annotations": chart.line(weeklyDurations(), { ...small, y: "q50", annotations: crowded }),
  "dot-numbers": chart.dot(versionSummary(), { ...small, x: "runs", y: "q50" }),
};

/** Runs of tests whose names are long, with intervals. */
function tests() {
  const names = ["web_connectivity", "http_invalid_request_line", "psiphon", "tor", "other"];
  const runs = [90, 400, 2_000, 220, 1_200];
  const [low, high] = [-2, 2].map((by) => runs.map((n) => n + by * Math.sqrt(n)));
  return makeResult(
    { test_name: names, runs, low: low!, high: high! },
    {
      dimensions: [{ name: "test_name", order: names, other: "other" }],
      measures: [counted("runs", "Runs")],
    },
  );
}

/** What `lab.runs.histogram` gives of run durations, those of a program twice as long as the other's. */
function spread(programs: readonly string[]) {
  const edges = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];
  const several = programs.length > 1;
  const rows = programs.flatMap((software_name, which) =>
    edges.slice(1).map((to, at) => {
      const far = (at - 6 - 2 * which) / 2;
      const runs = Math.round(900 * Math.exp(-far * far)) + (at === 0 ? 300 : 0);
      return { from: edges[at]!, to, ...(several && { software_name }), runs };
    }),
  );
  return makeResult(columnsOf(rows), {
    dimensions: several ? [{ name: "software_name", order: programs }] : [],
    measures: [
      single("from", "Run duration, from"),
      single("to", "Run duration, to"),
      { ...counted("runs", "Runs"), main: true },
    ],
  });
}

/** Weekdays by hour, one cell of them unknown. */
function hours() {
  const random = generator(4);
  const days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
  const clock = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, "0"));
  const rows = days.flatMap((weekday, at) =>
    clock.map((hour_of_day, index) => {
      const level = 1 + Math.sin(((index - 6) / 12) * Math.PI);
      const size = 1_000 * level * (at > 4 ? 0.5 : 1) * (0.8 + random() / 2);
      return { weekday, hour_of_day, measurements: Math.round(size) };
    }),
  );
  return makeResult(columnsOf(rows.filter((_, index) => index !== 30)), {
    dimensions: [
      { name: "weekday", order: days, ordered: true },
      { name: "hour_of_day", order: clock, ordered: true },
    ],
    measures: [{ ...counted("measurements", "Measurements"), missing: "gap" }],
  });
}

/** Lines of four hosts, one of them with a gap. */
function dense() {
  const random = generator(3);
  const levels = [30, 35, 40, 45];
  const rows = Array.from({ length: 3_600 }, (_, index) => {
    const host = index % 4;
    levels[host] = (levels[host] ?? 0) + random() - 0.5;
    const known = host !== 2 || index < 1_000 || index > 1_600;
    const at = new Date(Date.UTC(2026, 1, 1) + Math.floor(index / 4) * 72e5);
    return { at, host: `host-${host}`, load: known ? levels[host] : null };
  });
  return makeResult(columnsOf(rows));
}
