import { ProbelabError } from "../../../base/error.js";
import { figureRecord, type Figure } from "../figure.js";
import type { Draft } from "../record.js";
import type { PostmortemRecord } from "../record.js";
import { versions } from "../versions.js";

/** The record of a draft at a moment. @param draft masked already, where it has to be, as the figures. */
export function recordOf(
  draft: Draft,
  figures: readonly Figure[],
  savedAt: Date,
  masked: boolean,
): PostmortemRecord {
  if (savedAt.toISOString() < draft.detectedAt) {
    throw new ProbelabError(
      `Can't write a postmortem at ${savedAt.toISOString()} of an incident that was detected later, at ${draft.detectedAt}: correct detectedAt.`,
    );
  }
  return {
    format: "probelab postmortem 1",
    ...draft,
    figures: figures.map(figureRecord),
    // Nobody needs the time of saving to the millisecond.
    savedAt: new Date(Math.floor(savedAt.getTime() / 1000) * 1000).toISOString(),
    masked,
    versions: versions(),
  };
}
