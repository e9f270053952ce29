import { join } from "node:path";
import { untilDone } from "../../base/pending-work.js";
import { counted } from "../../base/text.js";
import { withLock } from "../../files/with-lock.js";
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
import { livePage } from "../postmortem/document/document-html.js";
import type { Entry, Journal } from "../postmortem/entries.js";
import { recordOf, type Content } from "../postmortem/figure.js";

import { openJournal, readContents } from "./journal.js";
import { readIncident, type Incident } from "./read-incident.js";

/** The page of an incident's folder. */
export const PAGE = "index.html";

const LATEST = 8;

/** Writes the page of a folder: whoever comes last has seen the entries of all who wrote before. */
export async function writePage(folder: string): Promise<string> {
  return withLock(join(folder, ".lock"), async () => {
    const incident = await readIncident(folder);
    const { contents, undrawn } = await readContents(folder, incident.entries);
    incident.unread.push(...undrawn);
    return writeWhole(join(folder, PAGE), await pageOf(incident, contents));
  });
}

/** The journal of a folder, whose page is written after what was added at once. */
export function openLiving(folder: string, author?: string): Promise<Journal> {
  let [running, again] = [false, false];
  const page = async (at: string) => {
    for (running = true; again;) {
      again = false;
      // What one cell adds is one page; who adds it has nothing to mend where it can't be written.
      await new Promise(setImmediate);
      await writePage(at).catch((error: Error) => console.warn(error.message));
    }
    running = false;
  };
  return openJournal(folder, author, (at) => {
    again = true;
    if (!running) void untilDone(() => page(at));
  });
}

/** The page at the moment of the incident: what is due, who has it, what came last, then all of it. */
export async function pageOf(
  incident: Incident,
  contents: ReadonlyMap<string, Content>,
): Promise<string> {
  const { draft, now, entries, due, demands, unread } = incident;
  const figures = incident.figures.flatMap(({ id, name, caption }) => {
    const content = contents.get(id);
    return content === undefined ? [] : { name, caption, content };
  });
  const state =
    draft.resolvedAt === null
      ? `In charge: ${incident.inCharge}.`
      : `Closed at ${utc(draft.resolvedAt)}.`;
  const checks = demands
    .filter(({ state }) => state !== "not demanded")
    .map((one) => ({
      done: isDone(one),
      spans:
        one.deadline !== undefined && due !== null && !isDone(one)
          ? [...plain("Response: "), { text: `due ${utc(due.at)}`, due: due.at }]
          : plain(demandText(one, draft, now)),
    }));
  const latest = entries.slice(-LATEST).reverse();
  const head: Block[] = [
    { kind: "paragraph", spans: plain(state) },
    ...section("What is due", [{ kind: "checklist", items: checks }]),
    ...section("Latest", [{ kind: "list", items: latest.map((entry) => plain(entryLine(entry))) }]),
    ...(unread.length === 0
      ? []
      : [
          {
            kind: "paragraph",
            spans: plain(`Can't be read, and is not shown: ${unread.join(", ")}.`),
          } as const,
        ]),
  ];
  const at = new Date(Math.max(+now, Date.parse(draft.detectedAt)));
  const record = recordOf(draft, figures, at, false);
  const end = `Written at ${utc(record.savedAt)}, of ${counted(entries.length, "entry", "entries")}. Addresses are not masked: not for publication.`;
  return livePage(draft.title, documentBlocks(record, figures, { head, end }));
}

/** What an entry tells, in a line. */
function entryLine(entry: Entry): string {
  const { timeline = [], findings = [], figures = [], actions = [], told = {} } = entry;
  const fields = Object.keys(told).map((name) =>
    name.replace(/[A-Z]/g, (big) => ` ${big.toLowerCase()}`),
  );
  const lines = [
    ...timeline.map(({ event }) => event),
    ...findings.map(({ text }) => `Finding: ${text}`),
    ...(findings.length + timeline.length > 0 ? [] : figures).map(
      ({ caption }) => `Figure: ${caption}`,
    ),
    ...actions.map(({ what }) => `Action item: ${what}`),
    ...(fields.length > 0 && timeline.length === 0 ? [`Told: ${fields.join(", ")}`] : []),
  ];
  const at = entry.writtenAt.slice(0, 16).replace("T", " ");
  return `${at}, ${entry.author ?? "somebody"}: ${lines.join("; ")}`;
}
