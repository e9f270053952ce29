import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** Where a command runs; `env` is added to this process's own. */
export interface Place {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts a command of probelab as it is built; `said` grows with its output. */
export function start(args: readonly string[], { cwd, env = {} }: Place = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: { ...process.env, ...env } });
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.on("close", (code) => resolve({ code, ...said })),
  );
  return { child, said, ended };
}

/** Runs a command of probelab to its end. */
export const probelab = (args: readonly string[], place?: Place) => start(args, place).ended;
