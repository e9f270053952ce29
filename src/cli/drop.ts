import { Command } from "commander";
import { amount, percent } from "../base/numbers.js";
import type { AnomaliesVerdict } from "../service/anomalies.js";
import { formatInstant } from "../time/time-zone.js";
import { answering } from "./answering.js";
import { detailsText, headText, line, textTable } from "./terminal.js";

const EXIT_CODES: Readonly<Record<AnomaliesVerdict["state"], number>> = {
  usual: 0,
  dropping: 8,
  silent: 8,
  unknown: 9,
  unsure: 9,
  recovered: 10,
};

/** `probelab drop` */
export const dropCommand = answering(
  new Command("drop")
    .description("show whether the flow of measurements dropped: since when, how much, and where")
    .addHelpText(
      "after",
      "\nThe exit code is 0 if all is as usual, 8 while a drop or silence goes on, 10 after a drop that is over, 9 if that is not known, 1 for an error.",
    ),
  "7d",
  async (lab, { range, flags, signal }) => {
    const finding = await lab.anomalies({ range, where: flags.where, signal });
    const { found, headline, evidence, details, state, since, result, why, freshness } = finding;
    const alarms = result.rows();
    const { notes } = finding.buckets.origin;
    const at = (time: unknown) =>
      `${formatInstant(time as Date, range.timeZone).slice(0, 16)} ${range.timeZone}`;
    const whole = (value: unknown) => amount(value === null ? null : Math.round(Number(value)), "");
    const drops = alarms.map(({ kind, t, until, observed, expected, change }) => [
      ...[line(kind as string, 20), at(t), at(until)],
      ...[whole(observed), whole(expected), percent(Number(change))],
    ]);
    return {
      finding,
      code: EXIT_CODES[state],
      json: {
        ...{ found, state, since, headline, evidence, details, alarms },
        ...{ causes: why?.causes ?? [], notes },
        freshness: freshness.headline,
      },
      text: [
        headText(finding),
        textTable(["alarm", "from", "to", "came", "expected", "change"], drops, 3),
        detailsText(finding, notes),
      ],
    };
  },
);
