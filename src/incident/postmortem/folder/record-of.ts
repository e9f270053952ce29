import { ProbelabError } from "../../../base/error.js";
import { figureRecord, type Figure } from "../figure.js";
import type { Draft } from "../record.js";
import type { PostmortemRecord } from "../record.js";
import { mapTexts, maskText, withoutSecrets } from "../secrets.js";
import { versions } from "../versions.js";
import { maskWords } from "./mask-words.js";

/** The record of a draft at a moment. @param figures their data masked already, where it has to be. */
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
    ...mapTexts(masked ? maskWords(draft) : draft, withoutSecrets),
    figures: figures.map((figure) => {
      const record = figureRecord(figure);
      return { ...record, caption: (masked ? maskText : withoutSecrets)(record.caption) };
    }),
    // Nobody needs the time of saving to the millisecond.
    savedAt: new Date(Math.floor(savedAt.getTime() / 1000) * 1000).toISOString(),
    masked,
    versions: versions(),
  };
}
