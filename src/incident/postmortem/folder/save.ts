import { writeFolder } from "../../../files/write-folder.js";
import { readInstant } from "../../../time/instant.js";
import type { Figure } from "../figure.js";
import { folderFiles, RECORD, recordFile } from "./folder-files.js";
import { MANIFEST, manifestOf } from "./manifest.js";
import { maskDraft, maskFigures, wordMask } from "./mask-postmortem.js";
import { mayReplace } from "./may-replace.js";
import type { Draft } from "../draft.js";
import { recordOf } from "./record-of.js";
import { resultFile } from "./result-file.js";

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
  const data = new Map(shown.map(({ name, content }) => [name, resultFile(content.result)]));
  const { files, fonts } = await folderFiles(undrawn, data);
  const record = { ...undrawn, versions: { ...undrawn.versions, ...fonts } };
  files.set(RECORD, recordFile(record));
  const manifest = manifestOf(files, record);
  files.set(MANIFEST, `${JSON.stringify(manifest, null, 1)}\n`);
  const replace = options.replaceChanges ?? false;
  return writeFolder(directory, files, (folder) => mayReplace(folder, record, replace));
}
