import { Command } from "commander";
import type { ReleaseFinding, ReleaseValue } from "../change/release.js";
import { amount, percent } from "../change/words.js";
import { connect } from "../lab/connect.js";
import { last } from "../time/time-range.js";
import {
  condition,
  exitCode,
  EXIT_CODES,
  inertJson,
  line,
  lines,
  textTable,
  userInterrupt,
  type Conditions,
} from "./terminal.js";
import { addFinding, incidentOption } from "./to-incident.js";

interface Flags {
  readonly software?: string;
  readonly previous?: string;
  readonly last: string;
  readonly where: Conditions;
  readonly json?: true;
  readonly incident?: string;
}

/** `probelab release` */
export const releaseCommand = new Command("release")
  .description("compare the runs of a new version with those of the version before it")
  .argument("<version>", "the new version, as software_version has it")
  .option("--software <name>", "its software_name, where several have that version")
  .option("--previous <version>", "the version to compare with; default: the one before it")
  .option("--last <span>", "where the two are looked for: 4 weeks, 90d", "3 months")
  .option("--where <column=value>", "only these rows; again for more", condition, {})
  .option("--json", "print the finding as JSON")
  .addOption(incidentOption())
  .addHelpText("after", EXIT_CODES)
  .action(async (version: string, { software, previous, where, ...flags }: Flags) => {
    using interrupt = userInterrupt();
    await using lab = await connect();
    const found = await lab.release(version, {
      range: last(flags.last, { now: lab.now }),
      where,
      signal: interrupt.signal,
      ...(software !== undefined && { software }),
      ...(previous !== undefined && { previous }),
    });
    const { result, kind, ...told } = found;
    const { notes } = result.origin;
    process.stdout.write(
      flags.json ? `${inertJson({ ...told, notes })}\n` : releaseText(found, notes),
    );
    await addFinding(flags.incident, found);
    process.exitCode = exitCode(found.found, !found.untold);
  });

function releaseText(found: ReleaseFinding, notes: readonly string[]): string {
  const { previous, version, runs, values } = found;
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
  const sizes = [
    "runs",
    ...[runs.before, runs.previous, runs.now].map((n) => amount(n, "")),
    "",
    "",
    "",
  ];
  const table = values.length === 0 ? "" : textTable(heads, [sizes, ...values.map(row)]);
  const text = [found.sentence, table, notes.join("\n")];
  return lines(`${text.filter((part) => part !== "").join("\n\n")}\n`);
}
