import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { ProbelabError } from "../../../error.js";
import { checkFiles } from "./check-files.js";
import { MANIFEST, readManifest } from "./manifest.js";
import { readFolder, readPlain } from "./read-folder.js";
import type { PostmortemRecord } from "../record.js";

/**
 * Lets a postmortem replace one that was saved before, and nothing else.
 *
 * @param incident what is to be saved: another incident's postmortem is not replaced.
 * @param changes whether files that were changed or added since may be lost.
 * @throws ProbelabError where the folder holds something else, or such files.
 */
export async function mayReplace(
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
  const { record } = await readFolder(folder, manifest);
  if (record && record.title !== incident.title && record.detectedAt !== incident.detectedAt) {
    throw new ProbelabError(
      `Can't save the postmortem ${JSON.stringify(incident.title)} in ${shown}: it holds that of another incident, ${JSON.stringify(record.title)}; pass a folder of its own, or remove that one first.`,
    );
  }
  if (changes) return;
  const checks = await checkFiles(folder, manifest);
  const touched = checks.filter(({ state }) => state === "changed" || state === "added");
  if (touched.length === 0) return;
  const names = touched.slice(0, 5).map(({ path, state }) => `${path} (${state})`);
  const more = touched.length > 5 ? ` and ${touched.length - 5} more` : "";
  throw new ProbelabError(
    `Can't replace the postmortem in ${shown}: ${names.join(", ")}${more} would be lost; save it elsewhere, or pass replaceChanges: true.`,
  );
}
