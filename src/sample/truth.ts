import { UNATTENDED_ANDROID } from "./probes.js";
import { releasedAt } from "./versions.js";

/** The fault that is planted in the sample, and what the investigation has to find. */
export const FAULT = {
  name: "unattended-runs-end-early",
  description:
    "Since a release, runs of the unattended Android probe end early: each holds fewer measurements and is over sooner, so that the weekly count drops. The tests themselves are as fast as before.",
  softwareName: UNATTENDED_ANDROID.name,
  softwareVersion: "3.10.0",
  changes: "fewer measurements per run, shorter runs, the same seconds per measurement",
  /** Measurements that are left of a run, in percent. */
  lengthPercent: 40,
} as const;

/** Index of the first faulty release of the unattended Android probe. */
export const FAULTY_RELEASE = UNATTENDED_ANDROID.releases.findIndex(
  (release) => release.version === FAULT.softwareVersion,
);

/** SQL that writes the planted fault into a truth table. */
export function truthInsert(table: string): string {
  return `INSERT INTO ${table} VALUES ({name:String}, {description:String}, {software_name:String},
    {software_version:String}, {released_at:DateTime('UTC')}, {changes:String}, {factor:Float64}, {factor:Float64}, 1)`;
}

/** The values that `truthInsert` is bound to. */
export function truthParameters(end: Date): Record<string, unknown> {
  const release = UNATTENDED_ANDROID.releases[FAULTY_RELEASE];
  return {
    name: FAULT.name,
    description: FAULT.description,
    software_name: FAULT.softwareName,
    software_version: FAULT.softwareVersion,
    released_at: release === undefined ? 0 : releasedAt(release, end),
    changes: FAULT.changes,
    factor: FAULT.lengthPercent / 100,
  };
}
