import { Command } from "commander";
import { examine } from "../doctor/doctor.js";
import { line } from "./origin-text.js";

const marks = { ok: "ok    ", advice: "advice", failure: "FAILED" };

/** `probelab doctor` */
export const doctorCommand = new Command("doctor")
  .description("Check Node, kernel, Jupyter, database and fonts, and say what to do")
  .addHelpText("after", "\nExits with 1 where something failed; advice is no failure.")
  .action(async () => {
    for await (const { name, state, found, remedy } of examine()) {
      process.stdout.write(`${marks[state]}  ${name.padEnd(9)} ${line(found)}\n`);
      if (remedy !== undefined) process.stdout.write(`${" ".repeat(18)}${line(remedy)}\n`);
      if (state === "failure") process.exitCode = 1;
    }
  });
