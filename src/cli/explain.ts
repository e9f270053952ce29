import { Command, Option } from "commander";
import { askCells } from "../change/cells/cells.js";
import { compareCells, movedValues, weekBefore, type MovedValue } from "../change/cells/compare.js";
import { explainAsked, type Explanation } from "../change/cells/explain.js";
import { tell } from "../change/finding.js";
import { PART_TOLERANCE } from "../change/cells/thresholds.js";
import { amount, percent } from "../base/numbers.js";
import { valueText } from "../change/words.js";
import { count } from "../query/measure.js";
import { isVersionColumn } from "../result/origin.js";
import { answering } from "./answering.js";
import { detailsText, exitCode, headText, line, textTable, wholeNumber } from "./terminal.js";

interface Flags {
  readonly of: "measurements" | "runs" | "logs";
  readonly by?: string;
  readonly top: number;
}

/** `probelab explain` */
export const explainCommand = answering<Flags>(
  new Command("explain")
    .description("show what is behind a change against the same hours of the week before")
    .addOption(
      new Option("--of <rows>", "what is counted")
        .choices(["measurements", "runs", "logs"])
        .default("measurements"),
    )
    .option("--by <columns>", "the columns to look in, with commas between: probe_cc,test_name")
    .option("--top <n>", "how many values are listed", wholeNumber, 20)
    .addHelpText(
      "after",
      "\nThe exit code is 0 where nothing changed, 8 where something did, 9 where the rows can't tell, 1 for an error.",
    ),
  "24h",
  async (lab, { range, flags, signal }) => {
    // One pair of scans serves both findings.
    const source = lab[flags.of];
    const compared = { before: weekBefore(range), after: range, where: flags.where, signal };
    const cells = await askCells(source, {
      ...compared,
      measure: count(),
      dimensions: flags.by?.split(",").map((name) => name.trim()),
      action: "compare the weeks",
      runs: true,
    });
    const { before, after, values, result } = compareCells(cells, flags.top);
    const why = await explainAsked(source, compared, cells);
    const rows = values.map(({ dimension, value, ...moved }) => [
      line(dimension, 30),
      line(valueText(value), 40),
      amount(moved.before, ""),
      amount(moved.after, ""),
      moved.change === null ? "" : amount(moved.change, ""),
      moved.relative === null ? "none before" : percent(moved.relative),
      moved.low === null || moved.high === null
        ? ""
        : `${amount(Math.round(moved.low), "")} to ${amount(Math.round(moved.high), "")}`,
    ]);
    const heads = ["dimension", "value", "before", "now", "change", "", "95 % interval"];
    const { found: isFound, causes, rest, moves } = why;
    // A row whose interval leaves out what is usual is no all-clear; users who upgrade move versions.
    const judged = movedValues(cells);
    const open = judged.filter(({ dimension, before: was, low, high }) => {
      const usual = PART_TOLERANCE * (was ?? 0);
      const isBeyond = low !== null && high !== null && (low > usual || high < -usual);
      return isBeyond && !isFound && causes.length === 0 && !isVersionColumn(dimension);
    });
    // One of twenty leaves it out by chance, give or take.
    const chance = judged.length / 20;
    const isOpen = open.length > chance + Math.sqrt(chance);
    const said = isOpen ? unclear(why, open) : why;
    const { notes, reductions } = result.origin;
    return {
      finding: said,
      code: exitCode(isFound, !why.undecided && !isOpen),
      json: {
        found: isFound,
        headline: said.headline,
        evidence: said.evidence,
        details: said.details,
        compare: { before, after, values },
        explain: { found: isFound, causes, rest, moves },
        notes,
      },
      text: [
        headText(said),
        textTable(heads, rows, 2),
        detailsText(said, [...reductions, ...notes]),
      ],
    };
  },
);

/** An explanation that names nothing, beside rows that may have changed: neither denies the other. */
function unclear(why: Explanation, open: readonly MovedValue[]): Explanation {
  const named = open.slice(0, 3).map(({ dimension, value }) => `${dimension} ${valueText(value)}`);
  const more = open.length > 3 ? ` and ${open.length - 3} more` : "";
  const doubt = `The interval of ${named.join(", ")}${more} leaves out what is usual (5 %); one of twenty does so by chance.`;
  const details = why.details.filter((text) => !/^(Apart from upgrades n|N)o part /.test(text));
  const told = tell("Nothing stands out for certain", why.evidence, [doubt, ...details]);
  return { ...why, ...told };
}
