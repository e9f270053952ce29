import { at, quantileTable } from "./draw.js";

/** A release of a probe. */
interface Release {
  readonly version: string;
  /** Days before the end of the sample; it is published at 09:00 UTC. */
  readonly daysBeforeEnd: number;
  /** The measurement engine in it. */
  readonly engine: string;
}

/** Android: both the interactive app and its unattended runs. 3.10 follows 3.9. */
const ANDROID: readonly Release[] = [
  { version: "3.6.2", daysBeforeEnd: 430, engine: "3.14.1" },
  { version: "3.7.0", daysBeforeEnd: 338, engine: "3.15.3" },
  { version: "3.7.1", daysBeforeEnd: 266, engine: "3.16.5" },
  { version: "3.8.0", daysBeforeEnd: 199, engine: "3.17.2" },
  { version: "3.8.1", daysBeforeEnd: 171, engine: "3.17.5" },
  { version: "3.8.2", daysBeforeEnd: 136, engine: "3.18.1" },
  { version: "3.9.0", daysBeforeEnd: 103, engine: "3.19.0" },
  { version: "3.9.1", daysBeforeEnd: 82, engine: "3.19.1" },
  { version: "3.10.0", daysBeforeEnd: 53, engine: "3.20.0" },
];

/** iOS: the same releases some days later, and without 3.8.1. */
const IOS: readonly Release[] = [
  { version: "3.6.2", daysBeforeEnd: 426, engine: "3.14.1" },
  { version: "3.7.0", daysBeforeEnd: 333, engine: "3.15.3" },
  { version: "3.7.1", daysBeforeEnd: 262, engine: "3.16.5" },
  { version: "3.8.0", daysBeforeEnd: 192, engine: "3.17.2" },
  { version: "3.8.2", daysBeforeEnd: 130, engine: "3.18.1" },
  { version: "3.9.0", daysBeforeEnd: 99, engine: "3.19.0" },
  { version: "3.9.1", daysBeforeEnd: 76, engine: "3.19.1" },
  { version: "3.10.0", daysBeforeEnd: 47, engine: "3.20.0" },
];

/** The desktop app. */
const DESKTOP: readonly Release[] = [
  { version: "3.8.4", daysBeforeEnd: 440, engine: "3.14.1" },
  { version: "3.9.2", daysBeforeEnd: 320, engine: "3.16.5" },
  { version: "3.9.3", daysBeforeEnd: 214, engine: "3.17.2" },
  { version: "3.9.5", daysBeforeEnd: 146, engine: "3.18.1" },
  { version: "3.10.0", daysBeforeEnd: 94, engine: "3.19.1" },
  { version: "3.10.1", daysBeforeEnd: 38, engine: "3.20.0" },
];

/** The command line, packaged by many distributions: versions live long. */
const CLI: readonly Release[] = [
  { version: "3.14.1", daysBeforeEnd: 450, engine: "3.14.1" },
  { version: "3.16.5", daysBeforeEnd: 300, engine: "3.16.5" },
  { version: "3.17.2", daysBeforeEnd: 225, engine: "3.17.2" },
  { version: "3.18.1", daysBeforeEnd: 152, engine: "3.18.1" },
  { version: "3.19.1", daysBeforeEnd: 92, engine: "3.19.1" },
  { version: "3.20.0", daysBeforeEnd: 55, engine: "3.20.0" },
];

/** A kind of probe: one value of `software_name`. */
interface Probe {
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
  /** Its devices, each as likely as the other: platform and architecture. */
  readonly platforms: readonly string[];
}

/** How soon users have a new release. */
interface Uptake {
  /** Days until half of those who update have it. */
  readonly median: number;
  /** Scale of the logistic curve, in days. */
  readonly scale: number;
  /** Share of the users who update late or never. */
  readonly laggards: number;
}

const PHONE = ["android/arm64", "android/arm64", "android/arm64", "android/arm"];
const COMPUTER = ["windows/amd64", "windows/amd64", "windows/amd64", "macos/arm64"];
const SERVER = ["linux/amd64", "linux/amd64", "linux/arm64", "macos/arm64"];

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
    platforms: ["ios/arm64"],
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

/** SQL for a text of the release whose indexes stand in the columns `probe` and `release`. */
export function ofRelease(text: (probe: Probe, release: Release) => string): string {
  const most = Math.max(...PROBES.map(({ releases }) => releases.length));
  const none = { version: "", engine: "", daysBeforeEnd: 0 };
  const texts = PROBES.flatMap((probe) =>
    Array.from({ length: most }, (_, index) => text(probe, probe.releases[index] ?? none)),
  );
  return at(texts, `(probe * ${most} + release)`);
}

/** Seconds since 1970 at which a release was published. */
export function releasedAt(release: Release, end: Date): number {
  const midnight = Math.floor(end.getTime() / 86_400_000) * 86_400;
  return midnight - release.daysBeforeEnd * 86_400 + 9 * 3_600;
}
