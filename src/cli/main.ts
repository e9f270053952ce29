#!/usr/bin/env node
import { Command } from "commander";
import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { ProbelabError } from "../error.js";
import { redact } from "../redact.js";
import { doctorCommand } from "./doctor.js";
import { kernelCommand } from "./kernel.js";
import { loadCommand } from "./load.js";
import { postmortemCommand } from "./postmortem.js";
import { originCommand } from "./origin.js";
import { line, lines } from "./origin-text.js";
import { runCommand } from "./run.js";
import { sampleCommand } from "./sample.js";
import { startCommand } from "./start.js";
import { typesCommand } from "./types.js";
import { watchCommand } from "./watch.js";

const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { version: string };

// Whatever a command prints, and whoever made the text.
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
  stream.write = (text: unknown, ...rest: unknown[]) =>
    write(typeof text === "string" ? redact(text) : text, ...rest);
}

const program = new Command("probelab")
  .description("Questions to a network-measurement service, answered in notebooks")
  .version(version)
  .addCommand(startCommand)
  .addCommand(runCommand)
  .addCommand(sampleCommand)
  .addCommand(loadCommand)
  .addCommand(watchCommand)
  .addCommand(originCommand)
  .addCommand(kernelCommand)
  .addCommand(postmortemCommand)
  .addCommand(typesCommand)
  .addCommand(doctorCommand);

try {
  await program.parseAsync();
} catch (error) {
  const known = error instanceof ProbelabError;
  console.error(known ? line(error.message, Infinity) : lines(inspect(error)));
  process.exitCode = 1;
}
