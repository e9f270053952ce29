import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { alert } from "../../../src/watch/alert/alert.js";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.js";

const installed = (() => {
  try {
    execFileSync("prometheus-alertmanager", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    console.warn("prometheus-alertmanager is not installed: its tests are skipped.");
    return false;
  }
})();

let folder: TemporaryDirectory;
let server: ChildProcess;
let url: string;

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  return port;
}

beforeAll(async () => {
  if (!installed) return;
  folder = await temporaryDirectory();
  vi.stubEnv("PROBELAB_WATCH", folder.path);
  const config = join(folder.path, "alertmanager.yml");
  await writeFile(config, "route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n");
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  server = spawn(
    "prometheus-alertmanager",
    [
      `--config.file=${config}`,
      `--storage.path=${join(folder.path, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--cluster.listen-address=",
    ],
    { stdio: "ignore" },
  );
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await fetch(`${url}/-/ready`).catch(() => undefined))?.ok) return;
    await sleep(100);
  }
  throw new Error("prometheus-alertmanager didn't start within 20 s");
}, 60_000);

afterAll(async () => {
  vi.unstubAllEnvs();
  if (!installed) return;
  server.kill();
  await once(server, "exit");
  await folder[Symbol.asyncDispose]();
});

interface Active {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly generatorURL: string;
}
const active = async () =>
  (await (await fetch(`${url}/api/v2/alerts?active=true`)).json()) as readonly Active[];

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
    const options = { channels: [alert.alertmanager(url)], send: true };
    await alert.when(true, message, options);
    await alert.when(true, { ...message, title: "Measurements fell by 60 %" }, options);
    expect(await active()).toMatchObject([
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
    await alert.when(false, message, options);
    expect(await active()).toEqual([]);
  });
});
