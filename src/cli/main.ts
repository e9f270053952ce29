#!/usr/bin/env node
import { Command } from "commander";
import { readFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";
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

// Only the command that is named is loaded: all of them take longer than most of them do.
const COMMANDS = {
  start: async () => (await import("./start.js")).startCommand,
  run: async () => (await import("./run.js")).runCommand,
  sample: async () => (await import("./sample.js")).sampleCommand,
  load: async () => (await import("./load.js")).loadCommand,
  watch: async () => (await import("./watch.js")).watchCommand,
  drop: async () => (await import("./drop.js")).dropCommand,
  release: async () => (await import("./release.js")).releaseCommand,
  helpers: async () => (await import("./helpers.js")).helpersCommand,
  logs: async () => (await import("./logs.js")).logsCommand,
  explain: async () => (await import("./explain.js")).explainCommand,
  origin: async () => (await import("./origin.js")).originCommand,
  kernel: async () => (await import("./kernel.js")).kernelCommand,
  incident: async () => (await import("./incident.js")).incidentCommand,
  alert: async () => (await import("./alert.js")).alertCommand,
  schedule: async () => (await import("./schedule.js")).scheduleCommand,
  doctor: async () => (await import("./doctor.js")).doctorCommand,
};

const program = new Command("probelab")
  .description("Questions to a network-measurement service, answered in notebooks")
  .version(version);
// Node from 22 on: commands start in some 20 ms less.
const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
enableCompileCache?.(fileURLToPath(new URL("../.compile-cache", import.meta.url)));
const [, , first = ""] = process.argv;
const named = Object.hasOwn(COMMANDS, first) ? COMMANDS[first as keyof typeof COMMANDS] : undefined;
const isVersion = /^(-V|--version)$/.test(first);
for (const load of named ? [named] : isVersion ? [] : Object.values(COMMANDS)) {
  program.addCommand(await load());
}

try {
  await program.parseAsync();
} catch (error) {
  const known = error instanceof ProbelabError;
  const text = known ? line(error.message, Infinity) : lines(inspect(error));
  console.error(forTerminal(text, process.stderr));
  process.exitCode = 1;
}
