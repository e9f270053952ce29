import { Command, InvalidArgumentError } from "commander";
import { askCells } from "../change/cells.js";
import { compareCells, weekBefore, type RangeComparison } from "../change/compare.js";
import { explainCells, type Explanation } from "../change/explain.js";
import { amount, percent, valueText } from "../change/words.js";
import { connect } from "../lab/connect.js";
import { count } from "../query/measure.js";
import { last } from "../time/time-range.js";
import {
  condition,
  exitCode,
  inertJson,
  line,
  lines,
  textTable,
  userInterrupt,
  wholeNumber,
  wrapped,
  type Conditions,
} from "./terminal.js";
import { addFinding, incidentOption } from "./to-incident.js";

const SOURCES = ["measurements", "runs", "logs"] as const;

interface Flags {
  readonly last: string;
  readonly of: (typeof SOURCES)[number];
  readonly by?: readonly string[];
  readonly where: Conditions;
  readonly top: number;
  readonly json?: true;
  readonly incident?: string;
}

/** `probelab explain` */
export const explainCommand = new Command("explain")
  .description("show what is behind a change against the same hours of the week before")
  .option("--last <span>", "the time in question, up to now: 24h, 7 days", "24h")
  .option("--of <rows>", `what is counted: ${SOURCES.join(", ")}`, sourceName, "measurements")
  .option("--by <columns>", "the columns to look in, with commas between", columnNames)
  .option("--where <column=value>", "only these rows; again for more", condition, {})
  .option("--top <n>", "how many values are listed", wholeNumber, 20)
  .option("--json", "print both findings as JSON")
  .addOption(incidentOption())
  .addHelpText(
    "after",
    "\nThe exit code is 0 where nothing changed, 8 where something did, 1 for an error.",
  )
  .action(async (flags: Flags) => {
    using interrupt = userInterrupt();
    await using lab = await connect();
    const now = last(flags.last, { now: lab.now });
    // One pair of scans serves both findings.
    const cells = await askCells(lab[flags.of], {
      measure: count(),
      before: weekBefore(now),
      after: now,
      dimensions: flags.by,
      where: flags.where,
      action: "compare the weeks",
      signal: interrupt.signal,
      runs: true,
    });
    const first = compareCells(cells, flags.top);
    const why = explainCells(cells);
    process.stdout.write(flags.json ? explainJson(first, why) : explainText(first, why));
    await addFinding(flags.incident, why);
    process.exitCode = exitCode(why.found);
  });

function explainText(first: RangeComparison, why: Explanation): string {
  const heads = ["dimension", "value", "before", "now", "change", "", "95 % interval", "part"];
  const rows = first.values.map((moved) => [
    line(moved.dimension, 30),
    line(valueText(moved.value), 40),
    amount(moved.before, ""),
    amount(moved.after, ""),
    moved.change === null ? "" : amount(moved.change, ""),
    moved.relative === null ? "new" : percent(moved.relative),
    moved.low === null || moved.high === null
      ? ""
      : `${amount(Math.round(moved.low), "")} to ${amount(Math.round(moved.high), "")}`,
    moved.part === null ? "" : percent(moved.part),
  ]);
  const { notes, reductions } = first.result.origin;
  return lines(
    `${[wrapped(why.sentence), "", textTable(heads, rows, 2), "", ...reductions, ...notes].join("\n")}\n`,
  );
}

function explainJson(compared: RangeComparison, explained: Explanation): string {
  const { sentence, found, before, after, values } = compared;
  const { causes, rest, moves } = explained;
  return `${inertJson({
    found: explained.found,
    compare: { sentence, found, before, after, values },
    explain: { sentence: explained.sentence, found: explained.found, causes, rest, moves },
    notes: compared.result.origin.notes,
  })}\n`;
}

function sourceName(text: string): Flags["of"] {
  const found = SOURCES.find((source) => source === text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`Take one of ${SOURCES.join(", ")}.`);
}

function columnNames(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => name !== "")) return names;
  throw new InvalidArgumentError("Write column names with commas between: probe_cc,test_name.");
}
