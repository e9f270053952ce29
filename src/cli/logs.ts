import { Command } from "commander";
import { counted } from "../base/text.js";
import { table } from "../chart/table.js";
import { connect, type Lab } from "../lab/connect.js";
import type { LogLine } from "../logs/follow.js";
import type { Priority } from "../logs/priority.js";
import { formatRange, last } from "../time/time-range.js";
import { addToIncident, OPTIONS, type AnswerFlags } from "./answering.js";
import { exitCode, inertJson, line, userInterrupt, wholeNumber } from "./terminal.js";

interface Flags extends AnswerFlags {
  readonly follow?: true;
  readonly program?: string;
  readonly search?: string;
  readonly priority?: Priority;
  readonly limit: number;
  readonly mask?: true;
}

/** The lateness that `lab.logs.follow` allows. */
const LATENESS_MS = 60_000;

/** `probelab logs` */
export const logsCommand = new Command("logs")
  .description("print the newest log messages, and follow new ones")
  .option("-f, --follow", "print new messages as they come, until Ctrl-C")
  .option("--program <name>", "of this program")
  .option("--search <text>", "whose message holds this text")
  .option("--priority <name>", "of this severity and worse: warning, err")
  .option("--limit <n>", "most messages, the newest", wholeNumber, 100)
  .option("--mask", "hide e-mail and IP addresses")
  .addOption(OPTIONS.last("1h"))
  .addOption(OPTIONS.where())
  .option("--json", "print a JSON object a line")
  .addOption(OPTIONS.incident())
  .addHelpText("after", "\nThe exit code is 0, 9 where no message was found, 1 for an error.")
  .action(async (flags: Flags) => {
    using interrupt = userInterrupt();
    await using lab = await connect();
    const { program, search, priority, where, mask = false } = flags;
    const filter = {
      where,
      mask,
      signal: interrupt.signal,
      ...(program !== undefined && { identifier: program }),
      ...(search !== undefined && { contains: search }),
      ...(priority !== undefined && { priority }),
    };
    const range = last(flags.last, { now: lab.now });
    const found = await lab.logs.search({ range, ...filter, limit: flags.limit });
    const newest = (found.rows() as LogLine[]).toReversed();
    for (const message of newest) print(message, flags);
    const { notes, reductions } = found.origin;
    for (const note of [...reductions, ...notes]) process.stderr.write(`${line(note)}\n`);
    const of = found.origin.filter === undefined ? "" : ` with ${found.origin.filter}`;
    const sentence = `${counted(newest.length, "log message")}${of}, ${formatRange(range)}.`;
    await addToIncident(flags.incident, [sentence, ...reductions].join(" "), table(found));
    if (flags.follow) await follow(lab, newest, { ...filter, cut: reductions.length > 0 }, flags);
    else process.exitCode = exitCode(false, newest.length > 0);
  });

/** Prints new lines, without those of the last minute that are printed already. */
async function follow(
  lab: Lab,
  printed: readonly LogLine[],
  { cut, ...filter }: NonNullable<Parameters<Lab["logs"]["follow"]>[0]> & { readonly cut: boolean },
  flags: Flags,
): Promise<void> {
  const recent = Date.now() - LATENESS_MS;
  // Older lines that the limit left out don't come after newer ones.
  const since = new Date(cut ? Math.max(recent, Number(printed[0]?.t ?? 0)) : recent);
  const known = new Map<string, number>();
  const keyOf = ({ t, identifier, message }: LogLine) =>
    JSON.stringify([t, identifier, message ?? ""]);
  for (const message of printed.filter(({ t }) => t >= since)) {
    known.set(keyOf(message), (known.get(keyOf(message)) ?? 0) + 1);
  }
  for await (const message of lab.logs.follow({ ...filter, since })) {
    const before = known.get(keyOf(message)) ?? 0;
    if (before > 0) known.set(keyOf(message), before - 1);
    else print(message, flags);
  }
}

function print(found: LogLine, { json }: Flags): void {
  const { t, identifier, host, priority, message } = found;
  const at = t.toISOString().replace("T", " ").replace("Z", "");
  const who = `${line(identifier ?? "-", 40)}${host ? `@${line(host, 40)}` : ""}`;
  const level = priority === undefined || priority === null ? "" : ` <${line(priority, 10)}>`;
  const text = json
    ? inertJson(found).replace(/\n\s*/g, " ")
    : `${at} ${who}${level} ${line(message ?? "")}`;
  process.stdout.write(`${text}\n`);
}
