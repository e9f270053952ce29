import { Command } from "commander";
import { verificationText, verifyPostmortem } from "../incident/manifest.js";
import { answersText, rerunPostmortem, type Question } from "../incident/rerun.js";
import { openDatabases } from "../lab/connect.js";
import { line, sqlText } from "./terminal.js";

interface Flags {
  readonly rerun?: true;
  readonly yes?: true;
}

/** `probelab postmortem verify DIR` */
const verify = new Command("verify")
  .description("check every file of a saved postmortem by its hash")
  .argument("<folder>", "what report.save() wrote")
  .option("--rerun", "ask the SQL of every figure again, and name the rows that differ")
  .option("--yes", "with --rerun: run the SQL that is shown, for folders that you trust")
  .addHelpText(
    "after",
    "\nNeeds no database without --rerun. The SQL of the folder is shown, and runs only with --yes. Exits\nwith 1 where a file was changed, removed or added, or where the database gives other values.",
  )
  .action(async (folder: string, { rerun, yes }: Flags) => {
    const verification = await verifyPostmortem(folder);
    process.stdout.write(verificationText(verification));
    if (verification.wrong.length > 0) process.exitCode = 1;
    if (!rerun) return;
    await using databases = await openDatabases();
    const { database, logs } = databases;
    const ask = async ({ sql, parameters, source }: Question) => {
      const other = source === database.source ? undefined : await logs().catch(() => undefined);
      const holder = other?.source === source ? other : database;
      return (await holder.ask({ sql, parameters, action: "ask again" })).table;
    };
    const answers = await rerunPostmortem(verification, ask, (all) => mayRun(all, yes === true));
    process.stdout.write(`\nAsked ${line(database.source)}:\n${answersText(answers)}`);
    if (answers.some(({ state }) => state === "changed" || state === "failed")) {
      process.exitCode = 1;
    }
  });

/** Shows the SQL of a folder, which its writer chose. */
function mayRun(all: readonly Question[], yes: boolean): boolean {
  for (const { figure, sql, parameters } of all) {
    process.stdout.write(
      `\n${line(figure)}:\n${sqlText(sql)}\nwith ${line(JSON.stringify(parameters))}\n`,
    );
  }
  return yes;
}

/** `probelab postmortem` */
export const postmortemCommand = new Command("postmortem")
  .description("what was saved of an incident")
  .addCommand(verify);
