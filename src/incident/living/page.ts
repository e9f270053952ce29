import { join } from "node:path";
import { untilDone } from "../../base/pending-work.js";
import { counted } from "../../base/text.js";
import { writeWhole } from "../../files/write-whole.js";
import {
  demandText,
  documentBlocks,
  isDone,
  plain,
  section,
  utc,
  type Block,
} from "../postmortem/document/document.js";
import { documentHtml } from "../postmortem/document/document-html.js";
import type { Journal } from "../postmortem/entries.js";
import { recordOf, type Content } from "../postmortem/figure.js";
import { entryNames, openJournal, readContents, readIncident, type Incident } from "./journal.js";

/** The page of an incident's folder. */
export const PAGE = "index.html";

/**
 * Writes the page of a folder. Several processes may write it at once, so each looks again when it has
 * written: whoever writes last has seen every entry.
 */
export async function writePage(folder: string): Promise<void> {
  for (let before = ""; ;) {
    const names = entryNames(folder).join();
    if (names === before) return;
    before = names;
    const incident = await readIncident(folder);
    const { contents, unread } = await readContents(folder, incident.entries);
    const page = await pageOf({ ...incident, unread: [...incident.unread, ...unread] }, contents);
    await writeWhole(join(folder, PAGE), page);
  }
}

/** Opens the journal of a folder and writes its page after what a cell adds. */
export function openLiving(folder: string, author?: string): Promise<Journal> {
  let [running, again] = [false, false];
  const writePages = async (path: string) => {
    for (running = true; again;) {
      again = false;
      // What a cell adds in one go is written to the page once.
      await new Promise(setImmediate);
      await writePage(path).catch((error: Error) => console.warn(error.message));
    }
    running = false;
  };
  return openJournal(folder, author, (path) => {
    again = true;
    if (!running) void untilDone(() => writePages(path));
  });
}

/** The page of an incident: what is due and who has it, then the postmortem so far. */
export async function pageOf(
  incident: Incident,
  contents: ReadonlyMap<string, Content>,
): Promise<string> {
  const { draft, now, entries, demands, unread } = incident;
  const figures = incident.figures.flatMap(({ id, name, caption }) => {
    const content = contents.get(id);
    return content === undefined ? [] : { name, caption, content };
  });
  const state =
    draft.resolvedAt === null
      ? `In charge: ${incident.inCharge}.`
      : `Closed at ${utc(draft.resolvedAt)}.`;
  const items = demands
    .filter((demand) => demand.state !== "not demanded")
    .map((demand) => ({
      done: isDone(demand),
      spans: plain(demandText(demand, draft, now)),
    }));
  const unreadText = `Can't be read, and is not shown: ${unread.join(", ")}.`;
  const head: Block[] = [
    { kind: "paragraph", spans: plain(state) },
    ...section("What is due", [{ kind: "checklist", items }]),
    ...(unread.length > 0 ? [{ kind: "paragraph", spans: plain(unreadText) } as const] : []),
  ];
  const at = new Date(Math.max(+now, Date.parse(draft.detectedAt)));
  const record = recordOf(draft, figures, at, false);
  const end = `Written at ${utc(record.savedAt)}, of ${counted(entries.length, "entry", "entries")}. Addresses are not masked: not for publication.`;
  return documentHtml(draft.title, documentBlocks(record, figures, { head, end }), false);
}
