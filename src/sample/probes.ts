import { at, quantileTable } from "./draw.js";

/** A release of a probe. */
interface Release {
  readonly version: string;
  /** Days before the end of the sample; it is published at 09:00 UTC. */
  readonly daysBeforeEnd: number;
  /** The measurement engine in it. */
  readonly engine: string;
}

/** The app for Android and its unattended runs: version, days before the end, engine. 3.10 follows 3.9. */
const ANDROID = releases(`3.6.2 430 3.14.1, 3.7.0 338 3.15.3, 3.7.1 266 3.16.5, 3.8.0 199 3.17.2,
  3.8.1 171 3.17.5, 3.8.2 136 3.18.1, 3.9.0 103 3.19.0, 3.9.1 82 3.19.1, 3.10.0 53 3.20.0`);
/** iOS: the same releases some days later, and without 3.8.1. */
const IOS = releases(`3.6.2 426 3.14.1, 3.7.0 333 3.15.3, 3.7.1 262 3.16.5, 3.8.0 192 3.17.2,
  3.8.2 130 3.18.1, 3.9.0 99 3.19.0, 3.9.1 76 3.19.1, 3.10.0 47 3.20.0`);
const DESKTOP = releases(`3.8.4 440 3.14.1, 3.9.2 320 3.16.5, 3.9.3 214 3.17.2, 3.9.5 146 3.18.1,
  3.10.0 94 3.19.1, 3.10.1 38 3.20.0`);
/** The command line, packaged by many distributions: versions live long. */
const CLI = releases(`3.14.1 450 3.14.1, 3.16.5 300 3.16.5, 3.17.2 225 3.17.2, 3.18.1 152 3.18.1,
  3.19.1 92 3.19.1, 3.20.0 55 3.20.0`);

function releases(table: string): Release[] {
  return table.split(/,\s+/).map((text) => {
    const [version = "", days, engine = ""] = text.split(" ");
    return { version, daysBeforeEnd: Number(days), engine };
  });
}

/** A kind of probe: one value of `software_name`. */
interface Probe {
  readonly name: string;
  /** Its share of the runs. */
  readonly weight: number;
  readonly releases: readonly Release[];
  /**
   * How soon its users have a new release: days until half of those who update have it, the scale of
   * the logistic curve in days, and the share of the users who update late or never.
   */
  readonly uptake: readonly [median: number, scale: number, laggards: number];
  /** Measurements per run, in percent of the test's own. */
  readonly lengthPercent: number;
  /** Who starts its runs: a person by day, a timer at any time. */
  readonly startedBy: "person" | "timer";
  /** Its devices, each as likely as the other: platform and architecture. */
  readonly platforms: readonly string[];
}

const PHONE = ["android/arm64", "android/arm64", "android/arm64", "android/arm"];

/** Every kind of probe, in a fixed order; the runs of the first end early since its last release. */
export const PROBES: readonly Probe[] = [
  {
    name: "probe-android-unattended",
    weight: 60,
    releases: ANDROID,
    uptake: [8, 2.2, 0.08],
    lengthPercent: 100,
    startedBy: "timer",
    platforms: PHONE,
  },
  {
    name: "probe-android",
    weight: 12,
    releases: ANDROID,
    uptake: [9, 2.5, 0.1],
    lengthPercent: 110,
    startedBy: "person",
    platforms: PHONE,
  },
  {
    name: "probe-ios",
    weight: 8,
    releases: IOS,
    uptake: [6, 1.8, 0.06],
    lengthPercent: 105,
    startedBy: "person",
    platforms: ["ios/arm64"],
  },
  {
    name: "probe-desktop",
    weight: 11,
    releases: DESKTOP,
    uptake: [16, 4, 0.15],
    lengthPercent: 120,
    startedBy: "person",
    platforms: ["windows/amd64", "windows/amd64", "windows/amd64", "macos/arm64"],
  },
  {
    name: "probe-cli",
    weight: 9,
    releases: CLI,
    uptake: [28, 7, 0.3],
    lengthPercent: 130,
    startedBy: "timer",
    platforms: ["linux/amd64", "linux/amd64", "linux/arm64", "macos/arm64"],
  },
];

/** Seconds from a release to its arrival at a user: the quantiles of `uptake`. */
export function updateDelays([median, scale, laggards]: Probe["uptake"]): number[] {
  const prompt = 1 - laggards;
  return quantileTable((p) => {
    const days =
      p < prompt
        ? median + scale * Math.log(p / (prompt - p))
        : 30 + 260 * ((p - prompt) / laggards) ** 2;
    return Math.max(0.05, days) * 86_400;
  });
}

/** SQL for a text of the release whose indexes stand in the columns `probe` and `release`. */
export function ofRelease(text: (probe: Probe, release: Release) => string): string {
  const most = Math.max(...PROBES.map((probe) => probe.releases.length));
  const none = { version: "", engine: "", daysBeforeEnd: 0 };
  const texts = PROBES.flatMap((probe) =>
    Array.from({ length: most }, (_, index) => text(probe, probe.releases[index] ?? none)),
  );
  return at(texts, `(probe * ${most} + release)`);
}

/** Seconds since 1970 at which a release was published; `end` in seconds, too. */
export function releasedAt(release: Release, end: number): number {
  return (Math.floor(end / 86_400) - release.daysBeforeEnd) * 86_400 + 9 * 3_600;
}
