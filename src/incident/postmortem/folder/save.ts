import { lstat, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ProbelabError } from "../../../base/error.js";
import { writeFolder } from "../../../files/write-folder.js";
import { readInstant } from "../../../time/instant.js";
import { recordOf, type Figure } from "../figure.js";
import { dataOf, folderFiles, RECORD, recordFile } from "./folder-files.js";
import {
  checkFiles,
  MANIFEST,
  manifestOf,
  readManifest,
  readPlain,
  readRecord,
} from "./manifest.js";
import { maskDraft, maskFigures, wordMask } from "./mask-postmortem.js";
import type { Draft, PostmortemRecord } from "../record.js";

/** How a postmortem is saved. */
export interface SaveOptions {
  /** False leaves e-mail and IP addresses as they are: for the team's own eyes. Default true. */
  readonly maskAddresses?: boolean;
  /**
   * True replaces a postmortem in the folder also where its title or its detection was another, or
   * files of it were changed, added or removed since. Default false.
   */
  readonly replaceChanges?: boolean;
  /** The time of saving, which stands in the documents; default the present. */
  readonly now?: Date | string;
}

/** Writes a postmortem's folder; see `Postmortem.save`. */
export async function savePostmortem(
  { draft, figures }: { readonly draft: Draft; readonly figures: readonly Figure[] },
  directory: string,
  options: SaveOptions,
): Promise<string> {
  const masked = options.maskAddresses ?? true;
  const savedAt = readInstant(options.now ?? new Date(), "UTC", "time of saving");
  const shown = maskFigures(figures, masked);
  const told = maskDraft(draft, wordMask(figures, masked));
  const undrawn = recordOf(told, shown, savedAt, masked);
  const data = new Map(shown.map(({ name, content }) => [name, dataOf(content)]));
  const replace = options.replaceChanges ?? false;
  // A refusal is told before anything is drawn, which takes seconds; other faults by the writing.
  const held = await readdir(directory).catch(() => []);
  if (held.length > 0) await mayReplace(resolve(directory), undrawn, replace);
  const { files, fonts } = await folderFiles(undrawn, data);
  const record = { ...undrawn, versions: { ...undrawn.versions, ...fonts } };
  files.set(RECORD, recordFile(record));
  const manifest = manifestOf(files, record);
  files.set(MANIFEST, `${JSON.stringify(manifest, null, 1)}\n`);
  return writeFolder(directory, files, (folder) => mayReplace(folder, record, replace));
}

/**
 * Lets a postmortem replace the one of the same incident that was saved before, and nothing else.
 * Incidents are the same by title and detection; where one of them was corrected, the analyst says
 * so with `changes`. Where both differ, or the title does and no record tells the detection, it is
 * another incident, which is never replaced.
 *
 * @param incident what is to be saved.
 * @param changes whether another title or detection, and files that were changed, added or removed
 *   since, may be lost.
 * @throws ProbelabError where the folder holds something else, or such files.
 */
async function mayReplace(
  folder: string,
  incident: Pick<PostmortemRecord, "title" | "detectedAt">,
  changes: boolean,
): Promise<void> {
  const shown = JSON.stringify(folder);
  const text = (await lstat(folder)).isDirectory()
    ? await readPlain(join(folder, MANIFEST)).catch(() => undefined)
    : undefined;
  if (text === undefined) {
    throw new ProbelabError(
      `Can't save the postmortem in ${shown}: something else is there that would be lost; pass a folder that is new, empty, or holds a postmortem.`,
    );
  }
  const manifest = readManifest(text.toString("utf8"), folder);
  // Without a record the manifest still has the title, and the record is told as missing below.
  const record = await readRecord(folder).catch(() => undefined);
  const { title, detectedAt } = record ?? { title: manifest.title, detectedAt: undefined };
  const [sameTitle, sameTime] = [title === incident.title, detectedAt === incident.detectedAt];
  if (!sameTitle && !sameTime) {
    throw new ProbelabError(
      `Can't save the postmortem ${JSON.stringify(incident.title)} in ${shown}: it holds that of another incident, ${JSON.stringify(title)}; pass a folder of its own, or remove that one first.`,
    );
  }
  if (changes) return;
  if (!sameTitle || (!sameTime && detectedAt !== undefined)) {
    const difference = sameTitle
      ? `an incident detected at ${detectedAt}, not ${incident.detectedAt}`
      : `the title ${JSON.stringify(title)}, not ${JSON.stringify(incident.title)}`;
    throw new ProbelabError(
      `Can't replace the postmortem in ${shown}: it has ${difference}. If you corrected that, save once with { replaceChanges: true }; if it is another incident, pass another folder.`,
    );
  }
  const checks = await checkFiles(folder, manifest);
  const touched = checks.filter(({ state }) => state !== "same");
  if (touched.length === 0) return;
  const names = touched.slice(0, 5).map(({ path, state }) => `${path} (${state})`);
  const more = touched.length > 5 ? ` and ${touched.length - 5} more` : "";
  throw new ProbelabError(
    `Can't replace the postmortem in ${shown}: what somebody did to it since, ${names.join(", ")}${more}, would be lost; save it elsewhere, or pass { replaceChanges: true }.`,
  );
}
