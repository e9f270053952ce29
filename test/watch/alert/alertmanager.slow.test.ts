import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { alert } from "../../../src/index.js";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.js";
import { installed, startAlertmanager } from "./alertmanager.js";

let folder: TemporaryDirectory;
let server: Awaited<ReturnType<typeof startAlertmanager>>;

beforeAll(async () => {
  if (!installed) return;
  folder = await temporaryDirectory();
  vi.stubEnv("PROBELAB_WATCH", folder.path);
  server = await startAlertmanager(folder.path);
}, 60_000);

afterAll(async () => {
  vi.unstubAllEnvs();
  if (!installed) return;
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

describe.skipIf(!installed)("a real Alertmanager", () => {
  const message = {
    title: "Measurements fell by 52 %",
    text: "12 instead of 25 an hour.",
    severity: 2 as const,
    key: "measurements drop",
    links: {
      notebook: "https://lab.example.org/drop.ipynb",
      page: "https://lab.example.org/drop.html",
      runbook: "https://docs.example.org/runbooks/drop",
      dashboard: "https://dash.example.org/flow",
      "1 CI run": "https://ci.example.org/7",
    },
  };

  it("holds one alert with its links however often it is raised, until the condition clears", async () => {
    const config = { alerts: { channels: [{ kind: "alertmanager", url: server.url }] } };
    await writeFile(join(folder.path, "probelab.config.json"), JSON.stringify(config));
    vi.stubEnv("PROBELAB_PROJECT", folder.path);
    const options = { send: true };
    await alert.when(true, message, options);
    await alert.when(true, { ...message, title: "Measurements fell by 60 %" }, options);
    expect(await server.active()).toMatchObject([
      {
        labels: {
          alertname: "measurements drop",
          severity: "critical",
          incident_severity: "2",
          notebook: "drop",
          source: "probelab",
        },
        annotations: {
          summary: "Measurements fell by 60 %",
          description: message.text,
          runbook_url: message.links.runbook,
          page: message.links.page,
          dashboard: message.links.dashboard,
          _1_CI_run: message.links["1 CI run"],
        },
        generatorURL: message.links.notebook,
      },
    ]);
    // Severities 1 and 2 can be routed apart; severity and notebook are labels there, and the alert is still one.
    await alert.when(true, { ...message, severity: 1 }, options);
    expect(await server.active()).toMatchObject([
      { labels: { severity: "critical", incident_severity: "1" } },
    ]);
    const moved = { ...message.links, notebook: "https://lab.example.org/a/new%20name.ipynb" };
    await alert.when(true, { ...message, links: moved }, options);
    expect(await server.active()).toMatchObject([
      { labels: { incident_severity: "2", notebook: "new name" } },
    ]);
    await alert.when(true, { ...message, severity: 3 }, options);
    expect(await server.active()).toMatchObject([{ labels: { severity: "warning" } }]);
    await alert.when(false, message, options);
    expect(await server.active()).toEqual([]);
  });
});
