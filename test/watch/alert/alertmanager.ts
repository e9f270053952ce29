import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, tryAgain } from "../../support/restricted-server.js";

/** Whether Prometheus' Alertmanager is there; tests of it are skipped where it isn't, and say so. */
export const installed = (() => {
  try {
    execFileSync("prometheus-alertmanager", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    console.warn("prometheus-alertmanager is not installed: its tests are skipped.");
    return false;
  }
})();

/** An alert that is raised. */
export interface Active {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly generatorURL: string;
}

/** A real Alertmanager on the loopback, its files in a folder; `await using` ends it. */
export function startAlertmanager(folder: string) {
  return tryAgain(() => start(folder));
}

async function start(folder: string) {
  const config = join(folder, "alertmanager.yml");
  await writeFile(config, "route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(
    "prometheus-alertmanager",
    [
      `--config.file=${config}`,
      `--storage.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--cluster.listen-address=",
    ],
    { stdio: "ignore" },
  );
  const end = async () => {
    if (server.exitCode !== null) return;
    const ended = once(server, "exit");
    server.kill();
    await ended;
  };
  for (let tries = 0; tries < 200 && server.exitCode === null; tries += 1) {
    if ((await fetch(`${url}/-/ready`).catch(() => undefined))?.ok) {
      return {
        url,
        active: async () =>
          (await (await fetch(`${url}/api/v2/alerts?active=true`)).json()) as readonly Active[],
        [Symbol.asyncDispose]: end,
      };
    }
    await sleep(100);
  }
  await end();
  throw new Error("prometheus-alertmanager didn't start within 20 s");
}
