import { Command } from "commander";
import { amount, percent } from "../change/words.js";
import { connect } from "../lab/connect.js";
import type { AnomaliesVerdict } from "../lab/anomalies.js";
import { last } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import {
  condition,
  inertJson,
  line,
  lines,
  textTable,
  userInterrupt,
  wrapped,
  type Conditions,
} from "./terminal.js";
import { addFinding, incidentOption } from "./to-incident.js";

interface Flags {
  readonly last: string;
  readonly where: Conditions;
  readonly json?: true;
  readonly incident?: string;
}

const EXIT_CODES: Readonly<Record<AnomaliesVerdict["state"], number>> = {
  usual: 0,
  dropping: 8,
  silent: 8,
  unknown: 9,
  unsure: 9,
  recovered: 10,
};

/** `probelab drop` */
export const dropCommand = new Command("drop")
  .description("show whether the flow of measurements dropped: since when, how much, and where")
  .option("--last <span>", "the time in question, up to now: 24h, 7 days", "7d")
  .option("--where <column=value>", "only these rows; again for more", condition, {})
  .option("--json", "print the finding as JSON")
  .addOption(incidentOption())
  .addHelpText(
    "after",
    "\nThe exit code is 0 if all is as usual, 8 while a drop or silence goes on, 10 after a drop that is over, 9 if it can't be told, 1 for an error.",
  )
  .action(async (flags: Flags) => {
    using interrupt = userInterrupt();
    await using lab = await connect();
    const range = last(flags.last, { now: lab.now });
    const found = await lab.anomalies({ range, where: flags.where, signal: interrupt.signal });
    const { verdict, sentence, state, since, result, why, freshness } = found;
    const alarms = result.rows();
    const { notes } = found.buckets.origin;
    if (flags.json) {
      const causes = why?.causes ?? [];
      const json = { found: found.found, state, since, verdict, sentence, alarms, causes, notes };
      process.stdout.write(`${inertJson({ ...json, freshness: freshness.sentence })}\n`);
    } else {
      const at = (time: unknown) =>
        `${formatInstant(time as Date, range.timeZone).slice(0, 16)} ${range.timeZone}`;
      const drops = alarms.map((row) => [
        ...[line(row["kind"] as string, 20), at(row["t"]), at(row["until"])],
        ...[
          amount(Math.round(Number(row["observed"])), ""),
          amount(Math.round(Number(row["expected"])), ""),
        ],
        percent(Number(row["change"])),
      ]);
      const causes = (why?.found ? why.causes : []).map(
        ({ where, before, after, change, part }) => [
          line(
            Object.entries(where)
              .map(([name, value]) => `${name} ${String(value)}`)
              .join(", ") || "all rows alike",
            60,
          ),
          ...[before, after, change].map((value) =>
            amount(value === null ? null : Math.round(value), ""),
          ),
          part === null ? "" : percent(part),
        ],
      );
      const tables = [
        textTable(["alarm", "from", "to", "came", "expected", "change"], drops, 3),
        textTable(["of", "week before", "then", "change", "part"], causes),
      ];
      const rest = sentence.slice(verdict.length).trim();
      const text = [
        verdict,
        wrapped(rest),
        ...tables.filter((table) => table !== ""),
        wrapped(notes.join("\n")),
      ];
      process.stdout.write(lines(`${text.filter((part) => part !== "").join("\n\n")}\n`));
    }
    await addFinding(flags.incident, found);
    process.exitCode = EXIT_CODES[state];
  });
