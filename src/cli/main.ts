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

// Whatever a command prints, and whoever made the text.
for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
  stream.write = (text: unknown, ...rest: unknown[]) =>
    write(typeof text === "string" ? redact(text) : text, ...rest);
  // Whoever read the output has enough: head, a pager.
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

const commands = new Map<string, () => Promise<Command>>(
  Object.entries({
    start: async () => (await import("./start.js")).startCommand,
    example: async () => (await import("./example.js")).exampleCommand,
    run: async () => (await import("./run.js")).runCommand,
    sample: async () => (await import("./sample.js")).sampleCommand,
    load: async () => (await import("./load.js")).loadCommand,
    watch: async () => (await import("./watch.js")).watchCommand,
    drop: async () => (await import("./drop.js")).dropCommand,
    release: async () => (await import("./release.js")).releaseCommand,
    helpers: async () => (await import("./helpers.js")).helpersCommand,
    logs: async () => (await import("./logs.js")).logsCommand,
    changed: async () => (await import("./changed.js")).changedCommand,
    origin: async () => (await import("./origin.js")).originCommand,
    kernel: async () => (await import("./kernel.js")).kernelCommand,
    incident: async () => (await import("./incident.js")).incidentCommand,
    postmortem: async () => (await import("./postmortem.js")).postmortemCommand,
    types: async () => (await import("./types.js")).typesCommand,
    alert: async () => (await import("./alert.js")).alertCommand,
    schedule: async () => (await import("./schedule.js")).scheduleCommand,
    doctor: async () => (await import("./doctor.js")).doctorCommand,
  }),
);

const program = new Command("probelab")
  .description("Questions to a network-measurement service, answered in notebooks")
  .version(version);
// Only the command that is named: loading all of them takes longer than most of them do.
const [, , first = ""] = process.argv;
const named = commands.get(first);
const needed = named ? [named] : /^(-V|--version)$/.test(first) ? [] : commands.values();
for (const load of needed) program.addCommand(await load());

try {
  await program.parseAsync();
} catch (error) {
  const known = error instanceof ProbelabError;
  const text = known ? line(error.message, Infinity) : lines(inspect(error));
  console.error(forTerminal(text, process.stderr));
  process.exitCode = 1;
}
