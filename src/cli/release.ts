import { Command } from "commander";
import type { ReleaseFinding, ReleaseValue } from "../change/release.js";
import { amount, percent } from "../change/words.js";
import { answering } from "./answering.js";
import { exitCode, EXIT_CODES, line, textTable } from "./terminal.js";

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
    const { result, kind, ...told } = finding;
    const { notes } = result.origin;
    return {
      finding,
      code: exitCode(finding.found, !finding.untold),
      json: { ...told, notes },
      text: [finding.sentence, valuesTable(finding), notes.join("\n")],
    };
  },
);

function valuesTable({ previous, version, runs, values }: ReleaseFinding): string {
  if (values.length === 0) return "";
  const short = (value: number | null, unit: string) =>
    value === null ? "" : amount(Number(value.toPrecision(3)), unit);
  const ends = (low: number | null, high: number | null, show: (end: number) => string) =>
    low === null || high === null ? "" : `${show(low)} to ${show(high)}`;
  const row = (value: ReleaseValue) => {
    const { unit, previous: was } = value;
    const own = (end: number) => short(end, unit);
    const by = (end: number) =>
      unit === "share"
        ? `${percent(end).replace(" %", "")} pp`
        : was === null || was === 0
          ? own(end)
          : percent(end / was);
    return [
      value.measure,
      short(value.before, unit),
      `${short(was, unit)} (${ends(value.previous_low, value.previous_high, own)})`,
      `${short(value.now, unit)} (${ends(value.now_low, value.now_high, own)})`,
      value.change === null ? "" : by(value.change),
      ends(value.low, value.high, by),
      value.told,
    ];
  };
  const was = line(previous ?? "", 30);
  const heads = ["", `${was} before`, was, line(version, 30), "change", "95 % interval", ""];
  const counts = [runs.before, runs.previous, runs.now].map((n) => amount(n, ""));
  return textTable(heads, [["runs", ...counts, "", "", ""], ...values.map(row)]);
}
