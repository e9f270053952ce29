import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { ProbelabError } from "../../../base/error.js";
import { checkFiles } from "./check-files.js";
import { MANIFEST, readManifest } from "./manifest.js";
import { readPlain, readRecord } from "./read-folder.js";
import type { PostmortemRecord } from "../record.js";

/** What tells one incident from another. */
type Incident = Pick<PostmortemRecord, "title" | "detectedAt">;

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
export async function mayReplace(
  folder: string,
  incident: Incident,
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
  const held = await readRecord(folder).catch(() => ({ title: manifest.title, detectedAt: null }));
  checkIncident(shown, held, incident, changes);
  if (changes) return;
  const checks = await checkFiles(folder, manifest);
  const touched = checks.filter(({ state }) => state !== "same");
  if (touched.length === 0) return;
  const names = touched.slice(0, 5).map(({ path, state }) => `${path} (${state})`);
  const more = touched.length > 5 ? ` and ${touched.length - 5} more` : "";
  throw new ProbelabError(
    `Can't replace the postmortem in ${shown}: what somebody did to it since, ${names.join(", ")}${more}, would be lost; save it elsewhere, or pass { replaceChanges: true }.`,
  );
}

function checkIncident(
  shown: string,
  held: { readonly title: string; readonly detectedAt: string | null },
  incident: Incident,
  changes: boolean,
): void {
  const otherTitle = held.title !== incident.title;
  const otherTime = held.detectedAt !== incident.detectedAt;
  if (otherTitle && otherTime) {
    throw new ProbelabError(
      `Can't save the postmortem ${JSON.stringify(incident.title)} in ${shown}: it holds that of another incident, ${JSON.stringify(held.title)}; pass a folder of its own, or remove that one first.`,
    );
  }
  if (changes || (!otherTitle && (!otherTime || held.detectedAt === null))) return;
  const [was, is] = otherTitle
    ? [`the title ${JSON.stringify(held.title)}`, JSON.stringify(incident.title)]
    : [`an incident detected at ${held.detectedAt}`, incident.detectedAt];
  throw new ProbelabError(
    `Can't replace the postmortem in ${shown}: it has ${was}, not ${is}. If you corrected that, save once with { replaceChanges: true }; if it is another incident, pass another folder.`,
  );
}
