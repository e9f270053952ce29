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
    },
  };

  it("holds one alert with its links however often it is raised, until the condition clears", async () => {
    const options = { channels: [alert.alertmanager(server.url)], send: true };
    await alert.when(true, message, options);
    await alert.when(true, { ...message, title: "Measurements fell by 60 %" }, options);
    expect(await server.active()).toMatchObject([
      {
        labels: { alertname: "measurements drop", severity: "critical", source: "probelab" },
        annotations: {
          summary: "Measurements fell by 60 %",
          description: message.text,
          runbook_url: message.links.runbook,
          page: message.links.page,
          dashboard: message.links.dashboard,
        },
        generatorURL: message.links.notebook,
      },
    ]);
    // The severity is a label there: the alert is still one.
    await alert.when(true, { ...message, severity: 3 }, options);
    expect(await server.active()).toMatchObject([{ labels: { severity: "warning" } }]);
    await alert.when(false, message, options);
    expect(await server.active()).toEqual([]);
  });
});
