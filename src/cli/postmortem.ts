import { Command } from "commander";
import { verificationText, verifyPostmortem } from "../incident/checksums.js";

/** `probelab postmortem verify DIR` */
const verify = new Command("verify")
  .description("check every file of a saved postmortem by its hash")
  .argument("<folder>", "what report.save() wrote")
  .addHelpText(
    "after",
    "\nChecks as `sha256sum -c SHA256SUMS` does in the folder, and names files that aren't listed. Exits\nwith 1 where a file was changed, removed or added.",
  )
  .action(async (folder: string) => {
    const verification = await verifyPostmortem(folder);
    process.stdout.write(verificationText(verification));
    if (verification.wrong.length > 0) process.exitCode = 1;
  });

/** `probelab postmortem` */
export const postmortemCommand = new Command("postmortem")
  .description("what was saved of an incident")
  .addCommand(verify);
