import { lstat, readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { ProbelabError } from "../../../base/error.js";
import { Chart } from "../../../chart/chart-value.js";
import { writeFolder } from "../../../files/write-folder.js";
import { csv } from "../../../render/save.js";
import { readInstant } from "../../../time/instant.js";
import { documentBlocks } from "../document/document.js";
import { documentHtml } from "../document/document-html.js";
import { documentMarkdown } from "../document/document-markdown.js";
import { documentPdf } from "../document/document-pdf.js";
import { recordOf, type Figure } from "../figure.js";
import type { Draft, PostmortemRecord } from "../record.js";
import { answerFile } from "./answer-file.js";
import { checkFiles, MANIFEST, manifestOf, openFolder } from "./manifest.js";
import { maskDraft, maskFigures, wordMask } from "./mask-postmortem.js";
import { queryFile } from "./query-file.js";
import { resultFile } from "./result-file.js";

/** Options of `save`. */
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
  { maskAddresses: masked = true, replaceChanges = false, now }: SaveOptions,
): Promise<string> {
  const savedAt = readInstant(now ?? new Date(), "UTC", "time of saving");
  const shown = maskFigures(figures, masked);
  const record = recordOf(maskDraft(draft, wordMask(figures, masked)), shown, savedAt, masked);
  // A refusal comes before anything is drawn, which takes seconds.
  const held = await readdir(directory).catch(() => []);
  if (held.length > 0) await mayReplace(resolve(directory), record, replaceChanges);
  const files = await folderFiles(record, shown);
  for (const [at, { name, content }] of figures.entries()) {
    const page = shown[at]?.content;
    if (page === undefined) continue;
    const { answer, sql } = content.result.origin;
    const kept = answer?.sql === sql ? answerFile(answer, page.result.origin, masked) : undefined;
    if (kept !== undefined) files.set(`queries/${name}.parquet`, kept);
  }
  files.set("postmortem.json", `${JSON.stringify(record, null, 1)}\n`);
  files.set(MANIFEST, `${JSON.stringify(manifestOf(files, record), null, 1)}\n`);
  return writeFolder(directory, files, (folder) => mayReplace(folder, record, replaceChanges));
}

/** The documents of a record, and the data, query and pictures of its figures. */
async function folderFiles(record: PostmortemRecord, figures: readonly Figure[]) {
  const files = new Map<string, string | Uint8Array>();
  for (const { name, caption, content } of figures) {
    const { result } = content;
    files.set(`data/${name}.parquet`, resultFile(result));
    const names = result.table.columnNames();
    const columns = names.map((each) => result.column(each));
    const rows = Array.from({ length: result.table.numRows() }, (_, row) =>
      columns.map((values) => values[row]),
    );
    files.set(`data/${name}.csv`, csv(names, rows));
    files.set(`queries/${name}.sql`, queryFile(caption, result.origin));
    if (content instanceof Chart) {
      files.set(`charts/${name}.svg`, await content.svg());
      files.set(`charts/${name}.png`, await content.png());
    }
  }
  const blocks = documentBlocks(record, figures);
  files.set("postmortem.md", documentMarkdown(blocks));
  files.set("postmortem.html", await documentHtml(record.title, blocks));
  files.set("postmortem.pdf", await documentPdf(record, blocks));
  // Git would change line ends on its way through Windows, and with them the hashes.
  files.set(".gitattributes", "* -text\n");
  return files;
}

/**
 * Lets a postmortem replace an earlier one of the same incident, and nothing else. Incidents are the
 * same by title and detection; where one of them was corrected, or a file was changed, the analyst
 * says so with `changes`. Where both differ, it is another incident, which is never replaced.
 *
 * @throws ProbelabError where the folder holds something else.
 */
async function mayReplace(
  folder: string,
  incident: Pick<PostmortemRecord, "title" | "detectedAt">,
  changes: boolean,
): Promise<void> {
  const shown = JSON.stringify(folder);
  const entries = (await lstat(folder)).isDirectory() ? await readdir(folder) : [];
  if (!entries.includes(MANIFEST)) {
    throw new ProbelabError(
      `Can't save the postmortem in ${shown}: something else is there that would be lost; pass a folder that is new, empty, or holds a postmortem.`,
    );
  }
  const { manifest } = await openFolder(folder);
  const { title, detectedAt } = manifest;
  const [sameTitle, sameTime] = [title === incident.title, detectedAt === incident.detectedAt];
  if (!sameTitle && !sameTime) {
    throw new ProbelabError(
      `Can't save the postmortem ${JSON.stringify(incident.title)} in ${shown}: it holds that of another incident, ${JSON.stringify(title)}; pass a folder of its own, or remove that one first.`,
    );
  }
  if (changes) return;
  if (!sameTitle || !sameTime) {
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
