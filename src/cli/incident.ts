import { Command, InvalidArgumentError } from "commander";
import { existsSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { ProbelabError } from "../base/error.js";
import { cleanText, counted } from "../base/text.js";
import {
  addEntry,
  addPictures,
  incidentFolders,
  openIncident,
} from "../incident/living/incident.js";
import { authorOf, readIncident, type Incident } from "../incident/living/journal.js";
import { writePage } from "../incident/living/page.js";
import { demandText, utc } from "../incident/postmortem/document/document.js";
import { closingPart, handoverPart } from "../incident/postmortem/entries.js";
import { instantText, readText, thisSecond } from "../incident/postmortem/fields.js";
import { webAddress } from "../incident/postmortem/figure.js";
import { postmortem } from "../incident/postmortem/postmortem.js";
import { formatDuration } from "../incident/severities/checklist.js";
import { severityOf, type SeverityNumber } from "../incident/severities/severities.js";
import { alert } from "../watch/alert/alert.js";
import type { AlertLinks } from "../watch/alert/message.js";
import { line } from "./terminal.js";

/** The exit code for a missed deadline, which no error has. */
const OVERDUE = 8;
/** The default folder of incidents. */
const HOME = "incidents";
/** People are called when this part of the response time is left. */
const LEFT = 1 / 4;

const severity = (text: string): SeverityNumber => {
  if (/^[1-4]$/.test(text)) return Number(text) as SeverityNumber;
  throw new InvalidArgumentError("Write 1, 2, 3 or 4; 1 is the highest.");
};

/** A command that writes entries. */
function writer(name: string, about: string): Command {
  return new Command(name)
    .description(about)
    .option("--author <name>", "who writes (default: PROBELAB_AUTHOR, else your user name)");
}

const open = writer("open", "begin an incident's folder, with its page and its first entry")
  .argument("<title>", "what happens, in a line")
  .requiredOption("--severity <n>", "1 to 4; in doubt the higher one, the lower number", severity)
  .option("--start <time>", "when it began to do harm, if known; UTC")
  .option("--detected <time>", "when it was noticed; the response is due from here (default: now)")
  .option("--out <dir>", "the folder of its folder", HOME)
  .action(async (title: string, flags: Record<string, string> & { severity: SeverityNumber }) => {
    const { start, detected, out = HOME, author } = flags;
    const fields = {
      title,
      severity: flags.severity,
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
  readonly to?: string;
}

const note = writer("note", "add an entry to the timeline")
  .argument("<folder>", "the incident's folder")
  .argument("<text>", "what happened, or was done")
  .option("--at <time>", "when, in UTC (default: now)")
  .option("--link <address>", "what it rests on, such as a dashboard or an alert")
  .option("--responded", "the response began with it")
  .option("--called", "the conference call was held")
  .option("--leader <name>", "who leads the call")
  .option("--sterile", "everything else is postponed from here")
  .option("--severity <n>", "the severity from here on", severity)
  .option("--to <name>", "hand the incident over: who has it from here on")
  .action(async (folder: string, text: string, flags: Note) => {
    const { link, responded, called, leader, sterile, to } = flags;
    if (link !== undefined && webAddress(link) === undefined) {
      throw new ProbelabError(
        `Can't rest an entry on ${JSON.stringify(link)}: pass an address that begins with https://.`,
      );
    }
    const time = timeOf(flags.at);
    const by = authorOf(flags.author);
    const evidence = link === undefined ? [] : [{ link }];
    const event = readText(text, "a timeline entry");
    const fields = {
      ...(responded && { respondedAt: time }),
      ...(called && { call: time }),
      ...(leader !== undefined && { leader }),
      ...(sterile && { sterile }),
      ...(flags.severity !== undefined && { severity: flags.severity }),
    };
    const part =
      to === undefined
        ? { timeline: [{ time, event, evidence }] }
        : handoverPart(to, text, time, by);
    await addEntry(
      folder,
      { ...part, ...(Object.keys(fields).length > 0 && { told: fields }) },
      by,
    );
  });

const add = writer("add", "add charts that were saved as PNG")
  .argument("<folder>", "the incident's folder")
  .argument("<files...>", "what chart.save wrote, or another picture")
  .action((folder: string, files: string[], { author }: Note) =>
    addPictures(folder, files, author),
  );

const close = writer("close", "close the incident and write its postmortem")
  .argument("<folder>", "the incident's folder")
  .argument("<text>", "what ended it")
  .option("--at <time>", "when, in UTC (default: now)")
  .action(async (folder: string, text: string, flags: Note) => {
    const by = authorOf(flags.author);
    await addEntry(folder, closingPart(text, timeOf(flags.at), by), by);
    const report = await postmortem.open(folder, { author: by });
    process.stdout.write(`${line(relative("", await report.save()))}\n`);
  });

const status = new Command("status")
  .description("print the state of incidents, and what is due")
  .argument("[folder]", `an incident's folder, or that of several (default: ${HOME})`)
  .addHelpText("after", `\nExits with ${OVERDUE} if a deadline was missed, 1 for an error.`)
  .action(async (folder?: string) => {
    const folders = await foldersOf(folder);
    const all = await Promise.all(folders.map((each) => readIncident(each)));
    process.stdout.write(all.map(statusText).join("\n") || "No incidents.\n");
    if (all.some(({ due }) => due?.overdue)) process.exitCode = OVERDUE;
  });

const tick = new Command("tick")
  .description("call people when a response is due or missed, and bring pages up to date")
  .argument("[folders...]", `incidents' folders, or those of several (default: ${HOME})`)
  .requiredOption("--notebook <address>", "a link of the alerts, as the next two")
  .requiredOption("--page <address>", "the page; {folder} is the name of the incident's folder")
  .requiredOption("--runbook <address>", "what to do")
  .addHelpText(
    "after",
    "\nFor cron or a timer, every few minutes. Sends to the channels of alerts.",
  )
  .action(async (given: string[], flags: AlertLinks) => {
    const all = await Promise.all(given.length > 0 ? given.map(foldersOf) : [foldersOf()]);
    for (const folder of all.flat()) {
      const page = flags.page.replaceAll("{folder}", encodeURIComponent(basename(folder)));
      try {
        await tickOne(folder, { ...flags, page });
      } catch (error) {
        // The deadlines of the others tick on.
        if (!(error instanceof ProbelabError)) throw error;
        process.stderr.write(`${line(`${basename(folder)}: ${error.message}`)}\n`);
        process.exitCode = 1;
      }
    }
  });

/**
 * Calls people when the last quarter of an incident's response time begins and when the deadline is
 * missed; resolves both when nothing is due any more.
 */
async function tickOne(folder: string, links: AlertLinks): Promise<void> {
  const { draft, due, now } = await readIncident(folder);
  // The page of a closed incident was written with its last entry.
  if (draft.resolvedAt === null) await writePage(folder);
  const name = basename(folder);
  const keys = { due: `${name}: response due`, missed: `${name}: response missed` };
  const reports = [];
  if (due === null) {
    for (const key of Object.values(keys)) reports.push(await alert.resolve(key, { send: true }));
  } else {
    const left = Date.parse(due.at) - +now;
    if (left > severityOf(draft.severity).responseTime * 3_600_000 * LEFT) return;
    const title = cleanText(draft.title, 120);
    const message = {
      severity: draft.severity,
      links,
      key: due.overdue ? keys.missed : keys.due,
      title: `${due.overdue ? "Response missed" : "Response due"}: ${title}`,
      text: `The response to a severity ${draft.severity} incident, detected at ${utc(draft.detectedAt)}, ${due.overdue ? `was due ${utc(due.at)}, and none is recorded` : `is due ${utc(due.at)}, in ${formatDuration(left)}`}. When you begin: probelab incident note ${name} --responded "…"`,
    };
    reports.push(await alert.send(message, { send: true }));
  }
  for (const { outcomes, sentence } of reports) {
    if (outcomes.length > 0) process.stdout.write(`${line(sentence)}\n`);
  }
}

/** `probelab incident` */
export const incidentCommand = new Command("incident").description(
  "an incident while it goes on: a folder that several people add to, and that becomes the postmortem",
);
for (const each of [open, note, add, close, status, tick]) incidentCommand.addCommand(each);

/** Folders of incidents. The default folder may be missing: there is none before the first incident. */
async function foldersOf(given?: string): Promise<string[]> {
  return given === undefined && !existsSync(HOME) ? [] : incidentFolders(given ?? HOME);
}

function timeOf(at: string | undefined): string {
  return instantText(at ?? thisSecond(), "time of an entry");
}

function statusText({ folder, draft, demands, now, inCharge, entries, unread }: Incident): string {
  const state = draft.resolvedAt === null ? `in charge: ${inCharge}` : "closed";
  return [
    `${line(draft.title)} (severity ${draft.severity}, ${line(state)}, ${counted(entries.length, "entry", "entries")})`,
    `  ${line(join(relative("", folder), "index.html"))}`,
    ...demands
      .filter((demand) => demand.state !== "not demanded")
      .map((demand) => `  ${line(demandText(demand, draft, now))}`),
    ...unread.map((path) => `  Can't be read: ${line(path)}`),
    "",
  ].join("\n");
}
