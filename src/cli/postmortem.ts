import { Command } from "commander";
import { createInterface } from "node:readline/promises";
import { answersText, sameAnswers, verificationText } from "../incident/postmortem/verify/texts.js";
import { rerunPostmortem, type ToRun } from "../incident/postmortem/verify/rerun.js";
import { isAsSaved, verifyPostmortem } from "../incident/postmortem/verify/verify.js";
import { connect } from "../lab/connect.js";
import { redact } from "../base/redact.js";
import { line, sqlText } from "./terminal.js";

interface Flags {
  readonly rerun?: true;
  readonly yes?: true;
}

/** `probelab postmortem verify DIR` */
const verify = new Command("verify")
  .description("check the hashes of a saved postmortem, and draw it again from its own data")
  .argument("<folder>", "what report.save() wrote")
  .option("--rerun", "ask the database again, and tell which numbers changed")
  .option(
    "--yes",
    "with --rerun: run the folder's own SQL without asking, for folders that you trust",
  )
  .addHelpText(
    "after",
    "\nNeeds no database without --rerun. SQL that stands in the folder is shown, and runs only after\na yes at the terminal or with --yes, under the same checks as lab.query(). Exits with 1 where a\nfile is not as it was saved or was added, a chart is not what the data gives, or the database\ngives other numbers.",
  )
  .action(async (folder: string, { rerun, yes }: Flags) => {
    const verification = await verifyPostmortem(folder);
    process.stdout.write(verificationText(verification));
    if (!isAsSaved(verification)) process.exitCode = 1;
    if (!rerun) return;
    await using lab = await connect();
    const answers = await rerunPostmortem(folder, lab, (sql) => mayRun(sql, yes === true));
    process.stdout.write(`\nAsked again of ${line(lab.source)}:\n${answersText(answers)}`);
    if (!sameAnswers(answers)) process.exitCode = 1;
  });

/** Shows SQL out of a folder, which whoever wrote the folder chose, and asks whether it may run. */
async function mayRun({ figure, sql, values }: ToRun, yes: boolean): Promise<boolean> {
  process.stdout.write(
    `\n${line(figure)} was asked by SQL of its own:\n${sqlText(sql)}\nwith ${line(values)}\n`,
  );
  if (yes) return true;
  // What a terminal isn't shown whole, nobody can agree to. No folder that save() wrote holds such SQL.
  if (redact(sql) !== sql) {
    process.stdout.write("It holds what looks like a password, which is not shown.\n");
    return false;
  }
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question("Run it on your database? [y/N] ")).trim());
  } finally {
    terminal.close();
  }
}

/** `probelab postmortem` */
export const postmortemCommand = new Command("postmortem")
  .description("what was saved of an incident")
  .addCommand(verify);
