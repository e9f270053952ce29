import { Command, Option } from "commander";
import { askCells } from "../change/cells.js";
import { compareCells, weekBefore } from "../change/compare.js";
import { explainCells } from "../change/explain.js";
import { amount, percent, valueText } from "../change/words.js";
import { count } from "../query/measure.js";
import { answering } from "./answering.js";
import { exitCode, line, textTable, verdictFirst, wholeNumber } from "./terminal.js";

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
    const cells = await askCells(lab[flags.of], {
      measure: count(),
      before: weekBefore(range),
      after: range,
      dimensions: flags.by?.split(",").map((name) => name.trim()),
      where: flags.where,
      action: "compare the weeks",
      signal,
      runs: true,
    });
    const { sentence, found, before, after, values, result } = compareCells(cells, flags.top);
    const why = explainCells(cells);
    // Where upgrades outweigh the whole's change by far, parts of it say nothing.
    const hasParts = values.every(({ part }) => Math.abs(part ?? 0) <= 2);
    const rows = values.map(({ dimension, value, ...moved }) => [
      line(dimension, 30),
      line(valueText(value), 40),
      amount(moved.before, ""),
      amount(moved.after, ""),
      moved.change === null ? "" : amount(moved.change, ""),
      moved.relative === null ? "new" : percent(moved.relative),
      moved.low === null || moved.high === null
        ? ""
        : `${amount(Math.round(moved.low), "")} to ${amount(Math.round(moved.high), "")}`,
      moved.part === null || !hasParts ? "" : percent(moved.part),
    ]);
    const heads = [
      "dimension",
      "value",
      "before",
      "now",
      "change",
      "",
      "95 % interval",
      hasParts ? "part" : "",
    ];
    const { notes, reductions } = result.origin;
    const { causes, rest, moves } = why;
    return {
      finding: why,
      code: exitCode(why.found, !why.undecided),
      json: {
        found: why.found,
        compare: { sentence, found, before, after, values },
        explain: { sentence: why.sentence, found: why.found, causes, rest, moves },
        notes,
      },
      text: [
        verdictFirst(why.sentence),
        textTable(heads, rows, 2),
        [...reductions, ...notes].join("\n"),
      ],
    };
  },
);
