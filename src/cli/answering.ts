import { Option, type Command } from "commander";
import type { Finding } from "../change/finding.js";
import type { Content } from "../incident/figure.js";
import { connect, type Lab } from "../lab/connect.js";
import { last, type TimeRange } from "../time/time-range.js";
import { condition, inertJson, lines, userInterrupt, type Conditions } from "./terminal.js";

/** Options of commands that answer a question. */
export const OPTIONS = {
  last: (span: string) =>
    new Option("--last <span>", "the time in question, up to now: 24h, 7 days").default(span),
  where: () =>
    new Option("--where <column=value>", "only these rows; again for more")
      .argParser(condition)
      .default({}),
  timeZone: () =>
    new Option("--time-zone <name>", "whose hours, days and weeks count: Europe/Rome").default(
      "UTC",
    ),
  json: () => new Option("--json", "print the answer as JSON"),
  incident: () =>
    new Option("--incident <dir>", "add the answer with its rows to this incident's folder"),
};

/** The values of `OPTIONS`. */
export interface AnswerFlags {
  readonly last: string;
  readonly where: Conditions;
  readonly timeZone: string;
  readonly json?: true;
  readonly incident?: string;
}

/** A question that a command asks: a range up to now, the command's flags, and its signal. */
export interface AskedQuestion<Flags> {
  readonly range: TimeRange;
  readonly flags: Flags & AnswerFlags;
  readonly signal: AbortSignal;
}

/** A finding as a command prints it: paragraphs or JSON. */
export interface PrintedAnswer {
  readonly finding: Finding;
  readonly text: readonly string[];
  readonly json: object;
  readonly code: number;
}

/** Gives a command the shared options; `ask` gets its arguments last. */
export function answering<Flags>(
  command: Command,
  span: string,
  ask: (lab: Lab, question: AskedQuestion<Flags>, ...given: string[]) => Promise<PrintedAnswer>,
): Command {
  const { last: lastOption, where, timeZone, json, incident } = OPTIONS;
  for (const option of [lastOption(span), where(), timeZone(), json(), incident()]) {
    command.addOption(option);
  }
  return command.action(async (...given: unknown[]) => {
    using interrupt = userInterrupt();
    const flags = command.opts<Flags & AnswerFlags>();
    await using lab = await connect();
    const { signal } = interrupt;
    const range = last(flags.last, { now: lab.now, timeZone: flags.timeZone });
    const question = { range, flags, signal };
    const texts = given.filter((each) => typeof each === "string");
    const answer = await ask(lab, question, ...texts);
    process.stdout.write(
      flags.json
        ? `${inertJson(answer.json)}\n`
        : lines(`${answer.text.filter((part) => part !== "").join("\n\n")}\n`),
    );
    await addFinding(flags.incident, answer.finding);
    process.exitCode = answer.code;
  });
}

/** Adds a sentence to the incident's folder, where one is given. @param evidence its rows and chart. */
export async function addToIncident(
  folder: string | undefined,
  sentence: string,
  ...evidence: readonly Content[]
): Promise<void> {
  if (folder === undefined) return;
  // Loaded when it is needed: every command would wait for it.
  const { openWords } = await import("../incident/postmortem.js");
  (await openWords(folder)).finding(sentence, ...evidence);
}

/** Adds a finding with all that it says, and prints where it and another contradict each other. */
async function addFinding(folder: string | undefined, finding: Finding): Promise<void> {
  if (folder === undefined) return;
  const { openWords } = await import("../incident/postmortem.js");
  const { contradictions } = await import("../incident/record.js");
  const evidence = [finding.evidence, ...finding.details].filter(Boolean).join(" ");
  const report = (await openWords(folder)).finding({ ...finding, evidence });
  for (const text of contradictions(report.draft.findings).at(-1)!) {
    process.stderr.write(`${lines(text)}\n`);
  }
}
