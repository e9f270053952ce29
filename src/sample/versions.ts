/** A release of a probe. */
export interface Release {
  readonly version: string;
  /** Days before the end of the sample; it is published at 09:00 UTC. */
  readonly daysBeforeEnd: number;
  /** The measurement engine in it. */
  readonly engine: string;
}

/** Android: both the interactive app and its unattended runs. 3.10 follows 3.9. */
export const ANDROID: readonly Release[] = [
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
export const IOS: readonly Release[] = [
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
export const DESKTOP: readonly Release[] = [
  { version: "3.8.4", daysBeforeEnd: 440, engine: "3.14.1" },
  { version: "3.9.2", daysBeforeEnd: 320, engine: "3.16.5" },
  { version: "3.9.3", daysBeforeEnd: 214, engine: "3.17.2" },
  { version: "3.9.5", daysBeforeEnd: 146, engine: "3.18.1" },
  { version: "3.10.0", daysBeforeEnd: 94, engine: "3.19.1" },
  { version: "3.10.1", daysBeforeEnd: 38, engine: "3.20.0" },
];

/** The command line, packaged by many distributions: versions live long. */
export const CLI: readonly Release[] = [
  { version: "3.14.1", daysBeforeEnd: 450, engine: "3.14.1" },
  { version: "3.16.5", daysBeforeEnd: 300, engine: "3.16.5" },
  { version: "3.17.2", daysBeforeEnd: 225, engine: "3.17.2" },
  { version: "3.18.1", daysBeforeEnd: 152, engine: "3.18.1" },
  { version: "3.19.1", daysBeforeEnd: 92, engine: "3.19.1" },
  { version: "3.20.0", daysBeforeEnd: 55, engine: "3.20.0" },
];

/** Seconds since 1970 at which a release was published. */
export function releasedAt(release: Release, end: Date): number {
  const midnight = Math.floor(end.getTime() / 86_400_000) * 86_400;
  return midnight - release.daysBeforeEnd * 86_400 + 9 * 3_600;
}
