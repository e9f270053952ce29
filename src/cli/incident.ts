import { Command } from "commander";
import { existsSync } from "node:fs";
import { relative } from "node:path";
import { counted } from "../base/text.js";
import { incidentFolders, openIncident, readIncident, type Incident } from "../incident/living.js";
import { missingParts, pastText, thisSecond } from "../incident/record.js";
import { openWords, postmortem, type Action, type Postmortem } from "../incident/postmortem.js";
import type { SeverityNumber } from "../incident/severity.js";
import { line, severity } from "./terminal.js";

/** The exit code for a missed deadline, which no error has. */
const OVERDUE = 8;
/** The default folder of incidents. */
const HOME = "incidents";

/** A command that writes entries. */
function writer(name: string, about: string): Command {
  return new Command(name)
    .description(about)
    .option("--author <name>", "who writes (default: PROBELAB_AUTHOR, else your user name)");
}

const open = writer("open", "begin an incident's folder, with its first entry")
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
  .action(async (folder: string, text: string, flags: Note) => {
    const { author, link, responded, called, leader, sterile } = flags;
    const report = await openWords(folder, author);
    const time = timeOf(flags.at);
    const fields = {
      ...(responded && { respondedAt: time }),
      ...(called && { call: time }),
      ...(leader !== undefined && { leader }),
      ...(sterile && { sterile }),
      ...(flags.severity !== undefined && { severity: flags.severity }),
    };
    if (Object.keys(fields).length > 0) report.set(fields);
    report.timeline(time, text, ...(link === undefined ? [] : [link]));
  });

const set = writer("set", "write a section of the postmortem")
  .argument("<folder>", "the incident's folder")
  .argument("<field>", "summary, impact, rootCauses, trigger, detection, resolution, title, …")
  .argument("<text...>", "its text; several become a list")
  .action(async (folder: string, field: string, texts: string[], { author }: Note) => {
    const report = await openWords(folder, author);
    report.set({ [field]: texts.length === 1 ? texts[0] : texts });
  });

const close = writer("close", "close the incident and write its postmortem")
  .argument("<folder>", "the incident's folder")
  .argument("<text>", "what ended it")
  .option("--at <time>", "when, in UTC (default: now)")
  .action(async (folder: string, text: string, { at, author }: Note) => {
    const report = await postmortem.open(folder, author === undefined ? {} : { author });
    await saved(report.close(text, timeOf(at)));
  });

const action = writer(
  "action",
  "add an action item, which prevents the next incident or notices it sooner",
)
  .argument("<folder>", "the incident's folder")
  .argument("<what>", "what is to be done")
  .option("--type <type>", "prevent, detect, mitigate (default: prevent)")
  .option("--owner <name>", "who does it")
  .option("--reference <text>", "an issue's number or address")
  .option("--due <time>", "until when, in UTC")
  .action(
    async (folder: string, what: string, { author, ...flags }: Omit<Action, "what"> & Note) => {
      (await openWords(folder, author)).action({ what, ...flags });
    },
  );

const withdraw = writer("withdraw", "take a finding out that holds no more")
  .argument("<folder>", "the incident's folder")
  .argument("<text>", "the beginning of the finding")
  .action(async (folder: string, text: string, { author }: Note) => {
    (await openWords(folder, author)).withdraw(text);
  });

const save = writer("save", "write the postmortem so far, with its charts, into the folder")
  .argument("<folder>", "the incident's folder")
  .action(async (folder: string, { author }: Note) => {
    const report = await postmortem.open(folder, author === undefined ? {} : { author });
    await saved(report);
  });

const status = new Command("status")
  .description("print the state of incidents, and what is due")
  .argument("[folder]", `an incident's folder, or that of several (default: ${HOME})`)
  .addHelpText("after", `\nExits with ${OVERDUE} if a deadline was missed, 1 for an error.`)
  .action(async (folder?: string) => {
    // The default folder may be missing: there is none before the first incident.
    const none = folder === undefined && !existsSync(HOME);
    const folders = none ? [] : await incidentFolders(folder ?? HOME);
    const all = await Promise.all(folders.map(readIncident));
    process.stdout.write(all.map(statusText).join("\n") || "No incidents.\n");
    if (all.some(({ demands }) => demands.some(({ overdue }) => overdue)))
      process.exitCode = OVERDUE;
  });

/** `probelab incident` */
export const incidentCommand = new Command("incident").description(
  "an incident while it goes on: a folder that several people add to, and that becomes the postmortem",
);
for (const each of [open, note, set, action, withdraw, save, close, status])
  incidentCommand.addCommand(each);

async function saved(report: Postmortem): Promise<void> {
  const lacks = missingParts(report.draft).join(", ");
  const more = lacks === "" ? "" : `\n  It still lacks: ${lacks}.`;
  process.stdout.write(`${line(relative("", await report.save()))}${more}\n`);
}

function timeOf(at: string | undefined): string {
  return pastText(at ?? thisSecond(), "time of an entry");
}

function statusText({ folder, draft, demands, entries, unread }: Incident): string {
  const state = draft.resolvedAt === null ? "open" : "closed";
  return [
    `${line(draft.title)} (severity ${draft.severity}, ${state}, ${counted(entries.length, "entry", "entries")})`,
    `  ${line(relative("", folder) || ".")}`,
    ...demands.map(({ text }) => `  ${line(text)}`),
    ...unread.map((path) => `  Can't be read: ${line(path)}`),
    "",
  ].join("\n");
}
