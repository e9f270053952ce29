import { Command } from "commander";
import { counted } from "../base/text.js";
import { resolve } from "node:path";
import { ProbelabError } from "../base/error.js";
import { configPath, readConfig } from "../database/config.js";
import { projectRoot } from "../database/settings.js";
import { runDue } from "../watch/schedule/once.js";
import {
  countedStates,
  readStatus,
  timeText,
  type NotebookStatus,
} from "../watch/schedule/status.js";
import { line, textTable, userInterrupt, wholeNumber, wrapped } from "./terminal.js";

interface Options {
  readonly out: string;
  readonly once?: true;
  readonly parallel: number;
  readonly keep: number;
}

/** `probelab schedule` */
export const scheduleCommand = new Command("schedule")
  .description("Run the notebooks that are due, or show how those with a schedule fare")
  .argument("[folder]", "folder of the notebooks", "notebooks")
  .option("--once", "run each notebook whose period has no run yet; for systemd's timer or cron")
  .option("--out <dir>", "folder of runs, history and status page", "out/schedule")
  .option("--parallel <n>", "most notebooks at the same time", wholeNumber, 2)
  .option("--keep <n>", "runs kept of each notebook", wholeNumber, 48)
  .addHelpText(
    "after",
    `
A notebook has a schedule where its first code cell holds such a comment:
  // schedule: { "every": "30 minutes", "timeout": "10 minutes" }

Exit codes with --once: 1 a run failed or something else is wrong.
Exit codes without: 2 a notebook fails or is late, 1 one never ran.`,
  )
  .action(async (folder: string, options: Options) => {
    if (options.parallel < 1 || options.keep < 1) {
      throw new ProbelabError("Can't schedule with --parallel or --keep below 1: write 1 or more.");
    }
    const [notebooks, out] = [resolve(folder), resolve(options.out)];
    if (options.once) await once(notebooks, out, options);
    else show(await readStatus(notebooks, out, new Date()));
  });

async function once(folder: string, out: string, options: Options): Promise<void> {
  using interrupt = userInterrupt();
  const { signal } = interrupt;
  const { parallel, keep } = options;
  const { alerts = {} } = readConfig(configPath(projectRoot(process.cwd())));
  const onNews = (sentence: string, isFine: boolean) => {
    if (!isFine) process.exitCode = 1;
    process[isFine ? "stdout" : "stderr"].write(`${line(sentence)}\n`);
  };
  await runDue({ folder, out, parallel, keep, alerts, signal, onNews });
  if (signal.aborted) process.exitCode = 130;
}

function show(status: readonly NotebookStatus[]): void {
  const rows = status.map(({ name, state, schedule, runs, next }) => [
    ...[state, line(name, 36), schedule?.every ?? ""],
    runs[0] ? timeText(runs[0].started) : "",
    next === undefined ? "" : timeText(next),
  ]);
  const ahead = status.flatMap(({ name, ahead }) =>
    ahead === 0 ? [] : ["", `${line(name)}: ${counted(ahead, "run")} of a clock ahead left out.`],
  );
  const heads = ["state", "notebook", "every", "last run (UTC)", "next run (UTC)"];
  const errors = status.flatMap(({ name, error }) =>
    error === null ? [] : ["", wrapped(line(`${name}: ${error.split("\n").join(" ")}`, 500))],
  );
  const text = [
    textTable(heads, rows, heads.length),
    ...errors,
    ...ahead,
    "",
    `${countedStates(status)}.`,
  ];
  process.stdout.write(`${text.join("\n").trimStart()}\n`);
  const isBad = status.some(({ state }) => state === "fails" || state === "late");
  const isOdd = status.some(({ state }) => state === "never ran") || status.length === 0;
  process.exitCode = isBad ? 2 : isOdd ? 1 : 0;
}
