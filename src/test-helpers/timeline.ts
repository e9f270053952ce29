import { formatInstant } from "../time/time-zone.js";
import type { Rotation } from "./rotation.js";

/** `testHelpers.timeline`: see {@link testHelpers}. */
export function timeline(rotation: Rotation): Record<string, unknown> {
  const hosts = [...new Set(rotation.instances.column("host").map(String))].sort();
  const start = (rotation.instances.origin.range?.start ?? new Date(0)).toISOString();
  // A rotation too close belongs to a pair: one label for both, at the second of them.
  const close = rotation.tooClose.map(({ time, hours }) => ({
    at: time.toISOString(),
    label: `${formatInstant(time, "UTC").slice(0, 10)}: ${hours === null ? "" : hours < 2 ? `${Math.round(hours * 60)} min` : `${hours.toFixed(1)} h`} after the one before`,
  }));
  const x = {
    type: "temporal",
    scale: { type: "utc", nice: false },
    axis: { title: "Time (UTC)", format: "%b %d", formatType: "utc", grid: false },
  };
  return {
    width: 1000,
    height: Math.max(120, hosts.length * 36),
    title: {
      text: "Lives of the test helpers",
      subtitle: rotation.findings.filter((finding) => !finding.includes("began to drain")),
    },
    layer: [
      {
        transform: [
          {
            filter: `isValid(datum.made_at) && toDate(datum.until) > toDate(${JSON.stringify(start)})`,
          },
        ],
        mark: { type: "bar", height: 18, stroke: "#ffffff", strokeWidth: 1.5, clip: true },
        encoding: {
          x: {
            ...x,
            field: "made_at",
            scale: { ...x.scale, domainMin: { expr: `toDate(${JSON.stringify(start)})` } },
          },
          x2: { field: "until" },
          y: { field: "host", type: "nominal", sort: hosts, axis: { title: null } },
          color: {
            field: "state",
            type: "nominal",
            scale: {
              domain: ["live", "draining", "destroyed"],
              range: ["#0072b2", "#b8c4cc", "#dde2e6"],
            },
            legend: { title: "State" },
          },
          tooltip: ["name", "host", "region", "state", "age_days"].map((field) => ({ field })),
        },
      },
      {
        transform: [{ filter: "datum.next === true" }],
        mark: {
          type: "text",
          align: "right",
          dx: -6,
          color: "#ffffff",
          text: "next",
          fontWeight: 700,
        },
        encoding: {
          x: { ...x, field: "until" },
          y: { field: "host", type: "nominal", sort: hosts },
        },
      },
      ...(close.length === 0
        ? []
        : [
            {
              data: { values: close },
              mark: { type: "rule", color: "#d55e00", strokeWidth: 2 },
              encoding: { x: { ...x, field: "at" } },
            },
            {
              data: { values: close },
              mark: {
                type: "text",
                color: "#b34700",
                align: "left",
                baseline: "bottom",
                dx: 2,
                y: -4,
              },
              encoding: { x: { ...x, field: "at" }, text: { field: "label" } },
            },
          ]),
    ],
  };
}
