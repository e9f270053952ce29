import { Command } from "commander";
import { connect } from "../lab/connect.js";
import { last } from "../time/time-range.js";
import { formatInstant } from "../time/time-zone.js";
import { exitCode, inertJson, line, lines, textTable } from "./terminal.js";

/** `probelab helpers` */
export const helpersCommand = new Command("helpers")
  .description("name the test helper to rotate next, and say whether it may be rotated now")
  .option("--json", "print it as JSON")
  .addHelpText(
    "after",
    "\nThe exit code is 0 where the next may be rotated now, 8 where it may not, 9 where that is unknown, 1 for an error.",
  )
  .action(async (flags: { readonly json?: true }) => {
    await using lab = await connect();
    const { instances, next, turn, stagger, findings } = await lab.testHelpers.rotation();
    const { notes } = instances.origin;
    const recent = last("30 days", { now: lab.now }).start;
    const shown = instances
      .rows()
      .filter(({ state, until }) => state === "live" || until >= recent);
    if (flags.json) {
      const answer = {
        next: next?.name ?? null,
        mayRotate: turn.now,
        earliest: turn.from,
        staggeredFrom: turn.staggeredFrom,
        staggered: stagger.staggered,
        findings,
        instances: shown,
        notes,
      };
      process.stdout.write(`${inertJson(answer)}\n`);
    } else {
      const rows = shown.map((row) => [
        ...[line(row.name, 60), line(row.host, 60), line(row.region, 20), row.state],
        row.made_at === null ? "unknown" : formatInstant(row.made_at, "UTC").slice(0, 16),
        row.age_days === null ? "" : row.age_days.toFixed(1),
        row.next ? "next" : "",
      ]);
      const heads = ["name", "host", "region", "state", "made (UTC)", "days", ""];
      const text = [findings.join("\n"), textTable(heads, rows, 5), notes.join("\n")];
      process.stdout.write(lines(`${text.filter((part) => part !== "").join("\n\n")}\n`));
    }
    process.exitCode = exitCode(turn.now === false, turn.now !== null);
  });
