import { formatInstant } from "../time/time-zone.js";
import type { Rotation } from "./rotation.js";

/** `testHelpers.timeline`: see {@link testHelpers}. */
export function timeline({ instances, rotations, findings }: Rotation): Record<string, unknown> {
  const hosts = [...new Set(instances.column("host"))].sort();
  const start = JSON.stringify((instances.origin.range?.start ?? new Date(0)).toISOString());
  const close = rotations.rows().flatMap(({ t, hours, too_close }) => {
    const apart =
      hours === null || hours >= 2 ? `${hours?.toFixed(1)} h` : `${Math.round(hours * 60)} min`;
    const label = `${formatInstant(t, "UTC").slice(0, 10)}: ${apart} after the one before`;
    return too_close ? [{ at: t.toISOString(), label }] : [];
  });
  const x = {
    type: "temporal",
    scale: { type: "utc", nice: false, domainMin: { expr: `toDate(${start})` } },
    axis: { title: "Time (UTC)", format: "%b %d", formatType: "utc", grid: false },
  };
  const y = { field: "host", type: "nominal", sort: hosts, axis: { title: null } };
  const color = {
    field: "state",
    type: "nominal",
    scale: { domain: ["live", "draining", "destroyed"], range: ["#0072b2", "#b8c4cc", "#dde2e6"] },
    legend: { title: "State" },
  };
  return {
    width: 1000,
    height: Math.max(120, hosts.length * 36),
    title: {
      text: "Lives of the test helpers",
      // The chart's rules show the others.
      subtitle: findings.filter((finding) => !finding.includes("began to drain")),
    },
    layer: [
      {
        transform: [{ filter: `isValid(datum.made_at) && toDate(datum.until) > toDate(${start})` }],
        mark: { type: "bar", height: 18, stroke: "#ffffff", strokeWidth: 1.5, clip: true },
        encoding: {
          x: { ...x, field: "made_at" },
          x2: { field: "until" },
          y,
          color,
          tooltip: ["name", "host", "region", "state", "age_days"].map((field) => ({ field })),
        },
      },
      {
        transform: [{ filter: "datum.next === true" }],
        mark: {
          type: "text",
          text: "next",
          align: "right",
          dx: -6,
          color: "#fff",
          fontWeight: 700,
        },
        encoding: { x: { ...x, field: "until" }, y },
      },
      {
        data: { values: close },
        mark: { type: "rule", color: "#d55e00", strokeWidth: 2 },
        encoding: { x: { ...x, field: "at" } },
      },
      {
        data: { values: close },
        mark: { type: "text", color: "#b34700", align: "left", baseline: "bottom", dx: 2, y: -4 },
        encoding: { x: { ...x, field: "at" }, text: { field: "label" } },
      },
    ],
  };
}
