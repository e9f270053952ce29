import { mapTexts, shownValue } from "../base/text.js";
import { createRequire } from "node:module";
import { lstat, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ProbelabError } from "../base/error.js";
import { redact } from "../base/redact.js";
import { Chart, csv, originRecord } from "../chart/page.js";
import { writeFolder } from "../base/files/write-folder.js";
import { maskOf, versionsOf, type Change } from "../result/mask.js";
import { parquet } from "../result/parquet.js";
import { readInstant } from "../time/instant.js";
import { documentBlocks, documentMarkdown, utc } from "./document.js";
import { documentHtml } from "./html.js";
import type { Draft } from "./record.js";
import { changeFigure, columnsOf, figureRecord, type Figure, type FigureRecord } from "./figure.js";
import { CHECKSUMS, changesSinceSaved, checksumsText, readPlainFile } from "./checksums.js";
import { queryFile } from "./query-file.js";

const require = createRequire(import.meta.url);

/** Options of `save`. */
export interface SaveOptions {
  /** False leaves e-mail and IP addresses as they are: for the team's own eyes. @default true */
  readonly maskAddresses?: boolean;
  /**
   * True replaces a postmortem in the folder also where its title or its detection was another, or
   * files of it were changed, added or removed since. Default false.
   */
  readonly replaceChanges?: boolean;
  /** The time of saving, which stands in the documents. @default the present */
  readonly now?: Date | string;
}

/** A postmortem as `postmortem.json` holds it: all its words, and how its charts and tables are made. */
interface PostmortemRecord extends Draft {
  readonly format: "probelab postmortem 1";
  readonly figures: readonly FigureRecord[];
  readonly savedAt: string;
  /** True where addresses are masked. */
  readonly masked: boolean;
  readonly versions: Readonly<Record<string, string>>;
}

/** Writes a postmortem's folder; see `Postmortem.save`. */
export async function savePostmortem(
  { draft, figures }: { readonly draft: Draft; readonly figures: readonly Figure[] },
  directory: string,
  { maskAddresses = true, replaceChanges = false, now }: SaveOptions,
): Promise<string> {
  const savedAt = readInstant(now ?? new Date(), "UTC", "time of saving");
  const versions = versionsOf(figures.map(({ content }) => content.result));
  const words = maskAddresses ? maskOf({ versions }) : (text: string) => text;
  const shown = figures.map((figure) => {
    const mask = maskAddresses ? maskOf({ versions, numbered: true }) : (text: string) => text;
    return changeFigure(figure, (text) => mask(redact(text)));
  });
  const record = recordOf(
    maskDraft(draft, (text) => words(redact(text))),
    shown,
    savedAt,
    maskAddresses,
  );
  // A refusal comes before anything is drawn, which takes seconds.
  const held = await readdir(directory).catch(() => []);
  if (held.length > 0) await mayReplace(resolve(directory), record, replaceChanges);
  const files = new Map<string, string | Uint8Array>();
  for (const { name, caption, content } of shown) {
    const { table, origin } = content.result;
    const columns = columnsOf(table);
    const names = columns.map(([column]) => column);
    const rows = Array.from({ length: table.numRows() }, (_, row) =>
      columns.map(([, values]) => values[row]),
    );
    const metadata = { "probelab.origin": JSON.stringify(originRecord(origin)) };
    files.set(`data/${name}.parquet`, parquet(names, rows, metadata));
    files.set(`data/${name}.csv`, csv(names, rows));
    files.set(`queries/${name}.sql`, queryFile(caption, origin));
    if (content instanceof Chart) {
      files.set(`charts/${name}.svg`, await content.svg());
      files.set(`charts/${name}.png`, await content.png());
    }
  }
  const missing = record.status === "draft";
  const blocks = documentBlocks(record, shown, { at: savedAt, missing, end: colophon(record) });
  files.set("postmortem.md", documentMarkdown(blocks));
  files.set("postmortem.html", await documentHtml(record.title, blocks));
  files.set("postmortem.json", `${JSON.stringify(record, null, 1)}\n`);
  // Git would change line ends on its way through Windows, and with them the hashes.
  files.set(".gitattributes", "* -text\n");
  files.set(CHECKSUMS, checksumsText(files));
  return writeFolder(directory, files, (folder) => mayReplace(folder, record, replaceChanges));
}

/** The record of a draft at a moment. @param masked true if draft and figures are masked. */
function recordOf(
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
  const { version } = require("../../package.json") as { version: string };
  return {
    format: "probelab postmortem 1",
    ...draft,
    figures: figures.map(figureRecord),
    // Nobody needs the time of saving to the millisecond.
    savedAt: new Date(Math.floor(savedAt.getTime() / 1000) * 1000).toISOString(),
    masked,
    versions: { probelab: version, node: process.versions.node },
  };
}

function colophon({ savedAt, masked, versions }: PostmortemRecord): string {
  const addresses = masked
    ? "E-mail and IP addresses are masked."
    : "Addresses are not masked: not for publication.";
  return `Saved at ${utc(savedAt)} by probelab ${versions["probelab"] ?? ""}. ${addresses} Check it with "sha256sum -c SHA256SUMS" (macOS: "shasum -a 256 -c SHA256SUMS"); the rows behind every figure are in data/, the queries in queries/.`;
}

/** A draft with its words changed; of names of people only secrets are taken out. */
function maskDraft(draft: Draft, change: Change): Draft {
  const { authors, leader, actions } = draft;
  return {
    ...mapTexts(draft, change),
    authors: mapTexts(authors, redact),
    leader: mapTexts(leader, redact),
    actions: actions.map((each) => ({
      ...mapTexts(each, change),
      owner: mapTexts(each.owner, redact),
    })),
  };
}

/**
 * Lets a postmortem replace an earlier one of the same title and detection, which nobody changed since;
 * with `changes` any postmortem.
 *
 * @throws ProbelabError where the folder holds something else, or what would be lost.
 */
async function mayReplace(
  folder: string,
  incident: Pick<PostmortemRecord, "title" | "detectedAt">,
  changes: boolean,
): Promise<void> {
  const failed = `Can't save the postmortem in ${JSON.stringify(folder)}`;
  const entries = (await lstat(folder)).isDirectory() ? await readdir(folder) : [];
  if (!entries.includes(CHECKSUMS)) {
    throw new ProbelabError(
      `${failed}: something else is there that would be lost; pass a folder that is new, empty, or holds a postmortem.`,
    );
  }
  const held = await readRecord(folder);
  const lost = [
    ...(["title", "detectedAt"] as const).flatMap((name) =>
      held === undefined || held[name] === incident[name]
        ? []
        : [`its ${name} ${shownValue(held[name])}`],
    ),
    ...(await changesSinceSaved(folder)),
  ];
  if (changes || lost.length === 0) return;
  const more = lost.length > 5 ? ` and ${lost.length - 5} more` : "";
  throw new ProbelabError(
    `${failed}: it holds what would be lost, ${lost.slice(0, 5).join(", ")}${more}. If it is this incident's, save once with { replaceChanges: true }; else pass another folder.`,
  );
}

/** The record of a saved postmortem; undefined where it can't be read. */
async function readRecord(folder: string): Promise<Partial<PostmortemRecord> | undefined> {
  try {
    const bytes = await readPlainFile(join(folder, "postmortem.json"));
    return Object(JSON.parse(bytes.toString("utf8"))) as Partial<PostmortemRecord>;
  } catch {
    return undefined;
  }
}
