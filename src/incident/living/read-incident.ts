import { resolve } from "node:path";
import { ProbelabError } from "../../base/error.js";
import { canAct, demandsOf, isDone } from "../postmortem/document/document.js";
import { sumOf, type Entry, type EntryFigure } from "../postmortem/entries.js";
import type { Draft } from "../postmortem/record.js";
import type { Demand } from "../severities/checklist.js";
import { readEntries } from "./journal.js";

/** An incident's folder at a moment. */
export interface Incident {
  /** Absolute. */
  readonly folder: string;
  readonly now: Date;
  readonly entries: readonly Entry[];
  readonly draft: Draft;
  readonly figures: readonly EntryFigure[];
  /** To whom it was handed over last, else who opened it. */
  readonly inCharge: string;
  readonly demands: readonly Demand[];
  /** The deadline that nobody has met and somebody still can. */
  readonly due: { readonly at: string; readonly overdue: boolean } | null;
  /** Files that hold no entry or figure that this probelab can read. */
  readonly unread: string[];
}

/** An incident's folder as it is now. @throws ProbelabError where it holds none. */
export async function readIncident(directory: string, now = new Date()): Promise<Incident> {
  const folder = resolve(directory);
  const { entries, unread } = await readEntries(folder);
  return incidentOf(folder, entries, unread, now);
}

/** What entries tell of an incident at a moment. */
export function incidentOf(
  folder: string,
  entries: readonly Entry[],
  unread: string[],
  now: Date,
): Incident {
  const { draft, figures } = sumOf(entries);
  if (draft.title === undefined || draft.detectedAt === undefined) {
    throw new ProbelabError(
      `Can't read the incident in ${JSON.stringify(folder)}: ${unread.length === 0 ? "it has no entries" : `${unread.join(", ")} can't be read`}; pass the folder that "probelab incident open" made.`,
    );
  }
  const { demands } = demandsOf(draft, now);
  const deadline = demands.find((one) => one.deadline !== undefined && !isDone(one))?.deadline;
  const due =
    deadline === undefined || !canAct(draft, now)
      ? null
      : { at: deadline.toISOString(), overdue: now > deadline };
  const inCharge =
    entries.findLast(({ to }) => to !== undefined)?.to ?? entries[0]?.author ?? "nobody";
  return { folder, now, entries, draft, figures, inCharge, demands, due, unread };
}
