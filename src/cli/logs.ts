import { Command } from "commander";
import { counted } from "../base/text.js";
import { table } from "../chart/page.js";
import { connect } from "../lab/connect.js";
import type { LogLine } from "../sources/logs/follow.js";
import type { Priority } from "../sources/logs/priority.js";
import { last, rangeText } from "../time/time-range.js";
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
  .option("--priority <name>", "of this severity and worse: warning, err, 3")
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
    const asked = last(flags.last, { now: lab.now });
    // Following gives the last minute itself: of lines that are stored late, too.
    const since = new Date(Math.max(Date.now() - LATENESS_MS, +asked.start + 1));
    const range = flags.follow && asked.end > since ? { ...asked, end: since } : asked;
    const found = await lab.logs.search({ range, ...filter, limit: flags.limit });
    const newest = (found.rows() as LogLine[]).toReversed();
    for (const message of newest) print(message, flags);
    const { notes, reductions } = found.origin;
    // Why there is none isn't said before the first comes.
    const said = flags.follow && newest.length === 0 ? [] : [...reductions, ...notes];
    for (const note of said) process.stderr.write(`${line(note)}\n`);
    const of = found.origin.filter === undefined ? "" : ` with ${found.origin.filter}`;
    const sentence = `${counted(newest.length, "log message")}${of}, ${rangeText(range)}.`;
    await addToIncident(flags.incident, [sentence, ...reductions].join(" "), table(found));
    if (flags.follow) {
      for await (const message of lab.logs.follow({ ...filter, since })) print(message, flags);
    } else process.exitCode = exitCode(false, newest.length > 0);
  });

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
