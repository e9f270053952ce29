import { Command, InvalidArgumentError } from "commander";
import { existsSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { ProbelabError } from "../base/error.js";
import { demandText } from "../incident/postmortem/document/document.js";
import { closingPart, handoverPart } from "../incident/postmortem/entries.js";
import {
  instantText,
  readText,
  thisSecond,
  type PostmortemFields,
} from "../incident/postmortem/fields.js";
import { webAddress } from "../incident/postmortem/figure.js";
import { postmortem } from "../incident/postmortem/postmortem.js";
import {
  addEntry,
  addPictures,
  incidentFolders,
  openIncident,
} from "../incident/living/incident.js";
import { authorOf } from "../incident/living/journal.js";
import { readIncident, type Incident } from "../incident/living/read-incident.js";
import type { SeverityNumber } from "../incident/severities/severities.js";
import { checkDeadlines } from "../watch/deadlines.js";
import { counted } from "../base/text.js";
import { inertJson, line } from "./terminal.js";

/** The exit code of a deadline that was missed, which no error has. */
const OVERDUE = 8;
/** Where incidents are, unless somebody says otherwise. */
const HOME = "incidents";

const severity = (text: string): SeverityNumber => {
  if (/^[1-4]$/.test(text)) return Number(text) as SeverityNumber;
  throw new InvalidArgumentError("Write 1, 2, 3 or 4; 1 is the highest.");
};

function command(name: string, about: string): Command {
  return new Command(name)
    .description(about)
    .option("--author <name>", "who tells it (default: PROBELAB_AUTHOR, else your user name)");
}

const open = command("open", "begin an incident's folder: its page, its first entry")
  .argument("<title>", "what happens, in a line")
  .requiredOption("--severity <n>", "1 to 4; in doubt the higher one, the lower number", severity)
  .option("--start <time>", "when it began to do harm, where that is known; UTC")
  .option("--detected <time>", "when it was noticed: the response is due from here (default: now)")
  .option("--out <dir>", "the folder of its folder", HOME)
  .action(async (title: string, flags: Record<string, string> & { severity: SeverityNumber }) => {
    const { start, detected, out = HOME, author } = flags;
    const fields = {
      ...{ title, severity: flags.severity },
      ...(start !== undefined && { startedAt: start }),
      ...(detected !== undefined && { detectedAt: detected }),
    };
    const folder = await openIncident(fields, out, author);
    process.stdout.write(
      `${line(relative("", folder))}\n${statusText(await readIncident(folder))}`,
    );
  });

interface Note {
  readonly at?: string;
  readonly author?: string;
  readonly link?: string;
  readonly responded?: true;
  readonly called?: true;
  readonly leader?: string;
  readonly sterile?: true;
  readonly severity?: SeverityNumber;
}

const note = command("note", "add an entry to the timeline")
  .argument("<folder>", "the incident's folder")
  .argument("<text>", "what happened, or was done")
  .option("--at <time>", "when, in UTC (default: now)")
  .option("--link <address>", "what it rests on: a dashboard, an alert")
  .option("--responded", "the response began with it")
  .option("--called", "the conference call was held")
  .option("--leader <name>", "who leads the call")
  .option("--sterile", "everything else is postponed from here")
  .option("--severity <n>", "the severity is this from here on", severity)
  .action(async (folder: string, text: string, flags: Note) => {
    const { link, responded, called, leader, sterile } = flags;
    if (link !== undefined && webAddress(link) === undefined) {
      throw new ProbelabError(
        `Can't rest an entry on ${JSON.stringify(link)}: pass an address that begins with https://.`,
      );
    }
    const time = timeOf(flags.at);
    const told: Partial<PostmortemFields> = {
      ...(responded && { respondedAt: time }),
      ...(called && { call: time }),
      ...(leader !== undefined && { leader }),
      ...(sterile && { sterile }),
      ...(flags.severity !== undefined && { severity: flags.severity }),
    };
    const event = readText(text, "a timeline entry");
    const evidence = link === undefined ? [] : [{ link }];
    await addEntry(
      folder,
      {
        ...{ timeline: [{ time, event, evidence }] },
        ...(Object.keys(told).length > 0 && { told }),
      },
      flags.author,
    );
  });

const add = command("add", "add charts that were saved, as PNG or SVG")
  .argument("<folder>", "the incident's folder")
  .argument("<files...>", "what chart.save() wrote, or another picture")
  .action((folder: string, files: string[], { author }: Note) =>
    addPictures(folder, files, author),
  );

const handover = command("handover", "hand the incident over to somebody else")
  .argument("<folder>", "the incident's folder")
  .argument("<text>", "how it stands, what is next")
  .requiredOption("--to <name>", "who has it from here on")
  .option("--at <time>", "when, in UTC (default: now)")
  .action(async (folder: string, text: string, flags: Note & { readonly to: string }) => {
    const by = authorOf(flags.author);
    await addEntry(folder, handoverPart(flags.to, text, timeOf(flags.at), by), by);
  });

const close = command("close", "tell that the incident is over, and write its postmortem")
  .argument("<folder>", "the incident's folder")
  .argument("<text>", "what ended it")
  .option("--at <time>", "when, in UTC (default: now)")
  .action(async (folder: string, text: string, flags: Note) => {
    const by = authorOf(flags.author);
    await addEntry(folder, closingPart(text, timeOf(flags.at), by), by);
    const report = await postmortem.open(folder, { author: by });
    const saved = await report.save();
    process.stdout.write(`${line(relative("", saved))}\n`);
  });

const status = new Command("status")
  .description("tell how incidents stand, and what is due")
  .argument("[folder]", `an incident's folder, or that of several (default: ${HOME})`)
  .option("--json", "print it as JSON")
  .addHelpText("after", `\nExits with ${OVERDUE} where a deadline was missed, 1 for an error.`)
  .action(async (folder: string | undefined, { json }: { readonly json?: true }) => {
    const folders = await foldersOf(folder);
    const all = await Promise.all(folders.map((one) => readIncident(one)));
    if (json) process.stdout.write(`${inertJson(all.map(statusJson))}\n`);
    else process.stdout.write(all.map(statusText).join("\n") || "No incidents.\n");
    if (all.some(({ due }) => due?.overdue)) process.exitCode = OVERDUE;
  });

const tick = new Command("tick")
  .description("call people where a response is due or missed, and bring pages up to date")
  .argument("[folders...]", `incidents' folders, or those of several (default: ${HOME})`)
  .requiredOption("--notebook <address>", "for the alerts, as the next two: where people look")
  .requiredOption(
    "--page <address>",
    "the page; {folder} in it is the name of the incident's folder",
  )
  .requiredOption("--runbook <address>", "what to do")
  .addHelpText(
    "after",
    "\nFor cron or a timer, every few minutes. The channels are those of alert.",
  )
  .action(async (given: string[], flags: Record<"notebook" | "page" | "runbook", string>) => {
    const all = await Promise.all(given.length > 0 ? given.map(foldersOf) : [foldersOf()]);
    for (const folder of all.flat()) {
      const page = flags.page.replaceAll("{folder}", encodeURIComponent(basename(folder)));
      try {
        const reports = await checkDeadlines(folder, { links: { ...flags, page }, send: true });
        const told = reports.filter(({ outcomes }) => outcomes.length > 0);
        for (const { sentence } of told) process.stdout.write(`${line(sentence)}\n`);
      } catch (error) {
        // The deadlines of the others tick on.
        if (!(error instanceof ProbelabError)) throw error;
        process.stderr.write(`${line(`${basename(folder)}: ${error.message}`)}\n`);
        process.exitCode = 1;
      }
    }
  });

/** `probelab incident` */
export const incidentCommand = new Command("incident").description(
  "an incident while it goes on: a folder to which everybody adds, and that becomes the postmortem",
);
for (const one of [open, note, add, handover, close, status, tick]) incidentCommand.addCommand(one);

/** Folders of incidents; where nobody names one, it is none until an incident is opened. */
async function foldersOf(named?: string): Promise<string[]> {
  return named === undefined && !existsSync(HOME) ? [] : incidentFolders(named ?? HOME);
}

function timeOf(at: string | undefined): string {
  return instantText(at ?? thisSecond(), "time of an entry");
}

function statusText({ folder, draft, demands, now, inCharge, entries, unread }: Incident): string {
  const state = draft.resolvedAt === null ? `in charge: ${inCharge}` : "closed";
  const rows = demands
    .filter(({ state }) => state !== "not demanded")
    .map((one) => `  ${demandText(one, draft, now)}`);
  return [
    `${line(draft.title)} (severity ${draft.severity}, ${line(state)}, ${counted(entries.length, "entry", "entries")})`,
    `  ${line(join(relative("", folder), "index.html"))}`,
    ...rows.map((row) => line(row)),
    ...unread.map((path) => `  Can't be read: ${line(path)}`),
    "",
  ].join("\n");
}

function statusJson({ folder, draft, demands, now, inCharge, entries, due, unread }: Incident) {
  const { title, severity, status, detectedAt, respondedAt, resolvedAt } = draft;
  return {
    ...{ folder, title, severity, status, detectedAt, respondedAt, resolvedAt, inCharge, due },
    demands: demands
      .filter(({ state }) => state !== "not demanded")
      .map((one) => ({ demand: one.demand, state: one.state, text: demandText(one, draft, now) })),
    entries: entries.length,
    lastEntryAt: entries.at(-1)?.writtenAt ?? null,
    unread,
  };
}
