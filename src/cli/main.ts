#!/usr/bin/env node
import { Command } from "commander";
import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { ProbelabError } from "../base/error.js";
import { redact } from "../base/redact.js";
import { forTerminal, line, lines } from "./terminal.js";

const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { version: string };

// In all that a command prints, also in texts of others.
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
  stream.write = (text: unknown, ...rest: unknown[]) =>
    write(typeof text === "string" ? redact(text) : text, ...rest);
  // The reader of the output has enough: head, a pager.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

const NAMES = [
  ...["start", "run", "sample", "load", "watch", "drop", "release", "helpers", "logs", "explain"],
  ...["origin", "kernel", "incident", "alert", "schedule", "doctor"],
];

const program = new Command("probelab")
  .description("Questions to a network-measurement service, answered in notebooks")
  .version(version);
// Only the command that is named: loading all of them takes longer than most of them do.
const [, , first = ""] = process.argv;
const named = NAMES.filter((name) => name === first);
const isVersion = /^(-V|--version)$/.test(first);
for (const name of isVersion ? [] : named.length > 0 ? named : NAMES) {
  const exports = (await import(`./${name}.js`)) as Record<string, Command>;
  program.addCommand(exports[`${name}Command`]!);
}

try {
  await program.parseAsync();
} catch (error) {
  const known = error instanceof ProbelabError;
  const text = known ? line(error.message, Infinity) : lines(inspect(error));
  console.error(forTerminal(text, process.stderr));
  process.exitCode = 1;
}
