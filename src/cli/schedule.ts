import { Command, InvalidArgumentError } from "commander";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { nearName } from "../base/near-name.js";
import { ProbelabError } from "../base/error.js";
import { writeWhole } from "../files/write-whole.js";
import { folderOf, pauseFile, type Run } from "../watch/schedule/history.js";
import { readOverview, readSeen, type Overview, type View } from "../watch/schedule/overview.js";
import { sizeText, timeText } from "../watch/schedule/run.js";
import { schedule } from "../watch/schedule/scheduler.js";
import { scheduleText } from "../watch/schedule/schedule.js";
import { serveSchedule } from "../watch/schedule/serve.js";
import { inertJson, line, userInterrupt, wholeNumber } from "./terminal.js";

const OUT = [
  "--out <dir>",
  "folder of the page, the history and the outputs",
  "out/schedule",
] as const;

interface Flags {
  readonly out: string;
  readonly once?: boolean;
  readonly parallel: number;
  readonly keep: number;
  readonly serve?: number | true;
}

const status = new Command("status")
  .description("tell how the schedule is, the failures first")
  .option(...OUT)
  .option("--json", "as JSON")
  .addHelpText(
    "after",
    "\nExit codes: 0 all fine, 1 something to look at, 2 a notebook fails or is late, or nothing runs, 3 it can't be told.",
  )
  .action(tellStatus);

const pause = new Command("pause")
  .description("let a notebook rest until it is resumed")
  .argument("<name>", "the notebook, as status calls it")
  .option(...OUT)
  .action(async (name: string, _: Flags, command: Command) => {
    const { out } = given(command);
    const path = pauseFile(await known(name, out));
    await writeWhole(path, `${new Date().toISOString()}\n`);
    process.stdout.write(`${line(name)} rests until: probelab schedule resume\n`);
  });

const resume = new Command("resume")
  .description("let a notebook run again: what it missed is made up for by one run")
  .argument("<name>", "the notebook, as status calls it")
  .option(...OUT)
  .action(async (name: string, _: Flags, command: Command) => {
    const { out } = given(command);
    await rm(pauseFile(await known(name, out)), { force: true });
    process.stdout.write(`${line(name)} runs again.\n`);
  });

/** `probelab schedule`: runs the notebooks of a folder by the schedules that they carry. */
export const scheduleCommand = new Command("schedule")
  .description("run the notebooks of a folder by the schedules that they carry")
  .argument("<folder>", "where the notebooks are, with its subfolders")
  .option(...OUT)
  .option("--once", "run what is due and end, for a timer; exit code 1 where a notebook fails")
  .option("--parallel <n>", "notebooks that run side by side", positive, 2)
  .option("--keep <n>", "runs of each notebook whose outputs are kept", positive, 48)
  .option("--serve [port]", "serve the page on this port of the loopback (8787)", wholeNumber)
  .action(run)
  .addCommand(status)
  .addCommand(pause)
  .addCommand(resume);

async function run(folder: string, flags: Flags): Promise<void> {
  using interrupt = userInterrupt();
  const { out, once = false, parallel, keep, serve } = flags;
  const server =
    serve === undefined
      ? undefined
      : await serveSchedule(resolve(out), serve === true ? 8787 : serve);
  if (server !== undefined) process.stdout.write(`The schedule is at ${server.url}\n`);
  try {
    const last = await schedule({
      ...{ folder, out, once, parallel, keep, signal: interrupt.signal },
      say: (text) => process.stderr.write(`${line(text)}\n`),
      onRun: (ended) => process.stdout.write(`${runText(ended)}\n`),
    });
    if (once && last.code > 0) process.exitCode = 1;
  } finally {
    await server?.close();
  }
}

/** Options of a subcommand: commander gives the schedule's command those of both. */
function given(command: Command): Flags & { readonly json?: boolean } {
  return command.optsWithGlobals();
}

async function tellStatus(_: Flags, command: Command): Promise<void> {
  const { out, json } = given(command);
  try {
    const now = await readOverview(resolve(out));
    process.stdout.write(json ? `${inertJson(statusJson(now))}\n` : statusText(now));
    process.exitCode = now.code;
  } catch (error) {
    if (!(error instanceof ProbelabError)) throw error;
    process.stderr.write(`${line(error.message)}\n`);
    process.exitCode = 3;
  }
}

function statusText({ views, troubles, at }: Overview): string {
  const rows = views.map(({ state, name, schedule: own, last, problem, plan, damaged }) => {
    const next =
      plan.at === undefined || state === "paused" || problem
        ? ""
        : plan.at <= at.getTime()
          ? ", due now"
          : `, next ${utc(plan.at)}`;
    const why = problem ?? (last === undefined ? "no run yet" : runText(last, false));
    const more = damaged.map((one) => `\n        ${line(one)}`).join("");
    return `${state.padEnd(7)} ${line(name)} (${own === undefined ? "?" : line(scheduleText(own))}): ${line(why, 300)}${next}${more}`;
  });
  return [
    ...troubles.map((one) => line(one)),
    ...(rows.length === 0 ? ["No notebook carries a schedule."] : rows),
    "",
  ].join("\n");
}

function runText(
  { notebook, started, state, seconds, peakMemory, error, periods }: Run,
  named = true,
): string {
  const facts = [
    ...(seconds === null ? [] : [timeText(seconds * 1000)]),
    ...(peakMemory === null ? [] : [sizeText(peakMemory)]),
    ...(periods > 1 ? [`for ${periods} periods`] : []),
  ];
  const why = error === null ? "" : `. ${error.split("\n").slice(0, 2).join(" ")}`;
  return line(
    `${named ? `${notebook}: ` : ""}${state} at ${utc(Date.parse(started))}, ${facts.join(", ")}${why}`,
    500,
  );
}

function statusJson({ at, folder, views, troubles, code }: Overview): object {
  const one = ({
    name,
    path,
    state,
    schedule: own,
    problem,
    damaged,
    last,
    lastGood,
    plan,
  }: View) => ({
    ...{ name, path, state, schedule: own ?? null, problem: problem ?? null, damaged },
    ...{ last: last ?? null, lastGood: lastGood ?? null },
    next: plan.at === undefined ? null : new Date(plan.at).toISOString(),
  });
  return { at: at.toISOString(), code, folder, troubles, notebooks: views.map(one) };
}

/** The folder of a notebook that the schedule knows. */
async function known(name: string, out: string): Promise<string> {
  const { notebooks } = await readSeen(resolve(out));
  if (notebooks.some((one) => one.name === name)) return folderOf(resolve(out), name);
  const names = notebooks.map((one) => one.name);
  const near = nearName(name, names);
  throw new ProbelabError(
    `Can't pause or resume ${JSON.stringify(name)}: no such notebook is scheduled. ${near === undefined ? `There is ${names.join(", ") || "none"}` : `Did you mean ${near}`}?`,
  );
}

function utc(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function positive(text: string): number {
  const value = wholeNumber(text);
  if (value < 1) throw new InvalidArgumentError("Write a number above 0.");
  return value;
}
