import { Command } from "commander";
import { grouped } from "../base/text.js";
import type { ReleaseFinding } from "../service/release.js";
import { amount, signedPercent } from "../base/numbers.js";
import { answering } from "./answering.js";
import { detailsText, exitCode, EXIT_CODES, headText, line, textTable } from "./terminal.js";

interface Flags {
  readonly software?: string;
  readonly previous?: string;
}

/** `probelab release` */
export const releaseCommand = answering<Flags>(
  new Command("release")
    .description("compare the runs of a new version with those of the version before it")
    .argument("<version>", "the new version, as software_version has it")
    .option("--software <name>", "its software_name, where several have that version")
    .option("--previous <version>", "the version to compare with; default: the one before it")
    .addHelpText("after", EXIT_CODES),
  "3 months",
  async (lab, { range, flags, signal }, version) => {
    const { software, previous, where } = flags;
    const finding = await lab.release(version, {
      ...{ range, where, signal },
      ...(software !== undefined && { software }),
      ...(previous !== undefined && { previous }),
    });
    const { result, kind, sentence, ...fields } = finding;
    const { notes } = result.origin;
    return {
      finding,
      code: exitCode(finding.found, !finding.undecided),
      json: { ...fields, notes },
      text: [headText(finding), valuesTable(finding), detailsText(finding, notes)],
    };
  },
);

function valuesTable({ previous, version, runs, values }: ReleaseFinding): string {
  if (values.length === 0) return "";
  const short = (value: number | null, unit: string) =>
    value === null ? "" : amount(unit === "share" ? value : Number(value.toPrecision(3)), unit);
  const rows = values.map(({ measure, unit, before, after, relative, verdict }) => [
    ...[measure, short(before, unit), short(after, unit)],
    ...[relative === null ? "" : signedPercent(relative), verdict],
  ]);
  const heads = ["", line(previous ?? "", 30), line(version, 30), "change", ""];
  return textTable(heads, [["runs", grouped(runs.before), grouped(runs.after), "", ""], ...rows]);
}
