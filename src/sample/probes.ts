import { quantileTable } from "./draw.js";
import { ANDROID, CLI, DESKTOP, IOS, type Release } from "./versions.js";

/** A kind of probe: one value of `software_name`. */
export interface Probe {
  readonly name: string;
  /** Its share of the runs. */
  readonly weight: number;
  readonly releases: readonly Release[];
  /** How soon its users have a new release: logistic in the days since it was published. */
  readonly uptake: Uptake;
  /** Measurements per run, in percent of the test's own. */
  readonly lengthPercent: number;
  /** Whether a person starts its runs (by day), or a timer (at any time). */
  readonly startedBy: "person" | "timer";
  readonly platforms: readonly { readonly name: string; readonly architecture: string }[];
}

/** How soon users have a new release. */
export interface Uptake {
  /** Days until half of those who update have it. */
  readonly median: number;
  /** Scale of the logistic curve, in days. */
  readonly scale: number;
  /** Share of the users who update late or never. */
  readonly laggards: number;
}

const PHONE = [
  { name: "android", architecture: "arm64" },
  { name: "android", architecture: "arm64" },
  { name: "android", architecture: "arm64" },
  { name: "android", architecture: "arm" },
];
const COMPUTER = [
  { name: "windows", architecture: "amd64" },
  { name: "windows", architecture: "amd64" },
  { name: "windows", architecture: "amd64" },
  { name: "macos", architecture: "arm64" },
];
const SERVER = [
  { name: "linux", architecture: "amd64" },
  { name: "linux", architecture: "amd64" },
  { name: "linux", architecture: "arm64" },
  { name: "macos", architecture: "arm64" },
];

/** The probe whose runs the planted fault cuts short. */
export const UNATTENDED_ANDROID: Probe = {
  name: "probe-android-unattended",
  weight: 60,
  releases: ANDROID,
  uptake: { median: 8, scale: 2.2, laggards: 0.08 },
  lengthPercent: 100,
  startedBy: "timer",
  platforms: PHONE,
};

/** Every kind of probe, in a fixed order. */
export const PROBES: readonly Probe[] = [
  UNATTENDED_ANDROID,
  {
    name: "probe-android",
    weight: 12,
    releases: ANDROID,
    uptake: { median: 9, scale: 2.5, laggards: 0.1 },
    lengthPercent: 110,
    startedBy: "person",
    platforms: PHONE,
  },
  {
    name: "probe-ios",
    weight: 8,
    releases: IOS,
    uptake: { median: 6, scale: 1.8, laggards: 0.06 },
    lengthPercent: 105,
    startedBy: "person",
    platforms: [{ name: "ios", architecture: "arm64" }],
  },
  {
    name: "probe-desktop",
    weight: 11,
    releases: DESKTOP,
    uptake: { median: 16, scale: 4, laggards: 0.15 },
    lengthPercent: 120,
    startedBy: "person",
    platforms: COMPUTER,
  },
  {
    name: "probe-cli",
    weight: 9,
    releases: CLI,
    uptake: { median: 28, scale: 7, laggards: 0.3 },
    lengthPercent: 130,
    startedBy: "timer",
    platforms: SERVER,
  },
];

/** Seconds from a release to its arrival at a user: the quantiles of `uptake`. */
export function updateDelays(uptake: Uptake): number[] {
  const prompt = 1 - uptake.laggards;
  return quantileTable((p) => {
    const days =
      p < prompt
        ? uptake.median + uptake.scale * Math.log(p / (prompt - p))
        : 30 + 260 * ((p - prompt) / uptake.laggards) ** 2;
    return Math.max(0.05, days) * 86_400;
  });
}
