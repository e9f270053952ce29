import { Command } from "commander";
import { answersText, sameAnswers } from "../incident/postmortem/verify/answers-text.js";
import { rerunPostmortem } from "../incident/postmortem/verify/rerun.js";
import { verificationText } from "../incident/postmortem/verify/verification-text.js";
import { isAsSaved, verifyPostmortem } from "../incident/postmortem/verify/verify.js";
import { connect } from "../lab/connect.js";

/** `probelab postmortem verify DIR` */
const verify = new Command("verify")
  .description("check the hashes of a saved postmortem, and draw it again from its own data")
  .argument("<folder>", "what report.save() wrote")
  .option("--rerun", "ask the database again, and tell which numbers changed")
  .addHelpText(
    "after",
    "\nNeeds no database without --rerun. Exits with 1 where a file is not as it was saved or was\nadded, a chart is not what the data gives, or the database gives other numbers.",
  )
  .action(async (folder: string, { rerun }: { rerun?: true }) => {
    const verification = await verifyPostmortem(folder);
    process.stdout.write(verificationText(verification));
    if (!isAsSaved(verification)) process.exitCode = 1;
    if (!rerun) return;
    await using lab = await connect();
    const answers = await rerunPostmortem(folder, lab);
    process.stdout.write(`\nAsked again of ${lab.source}:\n${answersText(answers)}`);
    if (!sameAnswers(answers)) process.exitCode = 1;
  });

/** `probelab postmortem` */
export const postmortemCommand = new Command("postmortem")
  .description("what was saved of an incident")
  .addCommand(verify);
