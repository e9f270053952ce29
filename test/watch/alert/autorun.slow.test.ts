import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it, vi } from "vitest";
import { openWriter } from "../../../src/database/writer.js";
import { runNotebook } from "../../../src/kernel/run-notebook.js";
import { fillSample } from "../../../src/sample/fill.js";
import { outputTexts } from "../../kernel/notebook-fixture.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { installed, startAlertmanager } from "./alertmanager.js";

const links = {
  notebook: "https://lab.example.org/autorun-incoming-measurements.ipynb",
  page: "https://lab.example.org/out/autorun-incoming-measurements.html",
  runbook: "https://docs.example.org/runbooks/drop",
};
const HOUR = 3_600_000;
afterEach(() => void vi.unstubAllEnvs());

it.skipIf(!installed)(
  "autorun-incoming-measurements: half of the sample's measurements are lost from one hour on, and Alertmanager holds one alert with its links until they come again",
  async () => {
    await using data = await temporaryDirectory();
    await using own = await temporaryDirectory();
    await using manager = await startAlertmanager(own.path);
    await using writer = await openWriter(data.source);
    const end = Date.UTC(2026, 4, 1);
    const lost = end - 42 * HOUR;
    await fillSample(writer, { rows: 10_000_000, end: new Date(end) });
    await writer.command("RENAME TABLE fastpath TO measured, logs TO said");
    await writer.command("CREATE TABLE fastpath AS measured");
    await writer.command("CREATE TABLE logs AS said");
    let written = lost - 70 * 24 * HOUR;
    /** Writes the rows up to so many hours after `lost`; for five hours from there half is missing. */
    const upTo = async (hours: number) => {
      const now = lost + hours * HOUR;
      const said = Math.max(written, lost - 8 * 24 * HOUR);
      const parameters = { lost, back: lost + 5 * HOUR, from: written, said, now };
      const ms = "toUnixTimestamp(measurement_start_time) * 1000";
      await writer.command(
        `INSERT INTO fastpath SELECT * FROM measured WHERE ${ms} >= {from:Int64} AND ${ms} < {now:Int64}
           AND NOT (${ms} >= {lost:Int64} AND ${ms} < {back:Int64} AND cityHash64(measurement_uid) % 2 = 0)`,
        { parameters },
      );
      await writer.command(
        "INSERT INTO logs SELECT * FROM said WHERE __REALTIME_TIMESTAMP >= {said:Int64} * 1000 AND __REALTIME_TIMESTAMP < {now:Int64} * 1000",
        { parameters },
      );
      written = now;
    };
    const config = { alerts: { channels: [{ kind: "alertmanager", url: manager.url }] } };
    await writeFile(join(own.path, "probelab.config.json"), JSON.stringify(config));
    vi.stubEnv("PROBELAB_MEASUREMENTS", `embedded:${data.path}`);
    vi.stubEnv("PROBELAB_PROJECT", own.path);
    vi.stubEnv("PROBELAB_WATCH", join(own.path, "watch"));
    vi.stubEnv("PROBELAB_LINKS", JSON.stringify(links));
    const path = fileURLToPath(
      new URL("../../../notebooks/autorun-incoming-measurements.ipynb", import.meta.url),
    );
    const run = async () => {
      const outcome = await runNotebook(path, { out: join(own.path, "out") });
      expect(outcome.message).toBeUndefined();
      return (await outputTexts(outcome.notebook)).flat().join("\n");
    };

    vi.stubEnv("AUTORUN", "1");
    const verdict = /Measurements are down by \d+ % until now|The drop goes on: measurements −/;
    for (const hours of [4, 5]) {
      await upTo(hours);
      expect(await run()).toMatch(verdict);
      const active = await manager.active();
      expect(active).toHaveLength(1);
      expect(active[0]).toMatchObject({
        labels: { alertname: "measurements drop", severity: "critical" },
        annotations: {
          summary: expect.stringMatching(verdict) as string,
          description: expect.stringMatching(
            /Measurements dropped by \d+ %\. [\d,]+ instead of about/,
          ) as string,
          runbook_url: links.runbook,
          page: links.page,
        },
        generatorURL: links.notebook,
      });
    }
    await upTo(8);
    expect(await run()).toMatch(
      /The drop noticed .* is over\. Measurements .* in the last \d+ hours against .* is usual\)/,
    );
    expect(await manager.active()).toEqual([]);
  },
  600_000,
);
