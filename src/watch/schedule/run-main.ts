import { open } from "node:fs/promises";
import { basename, join } from "node:path";
import { keepSecretsOf, redact } from "../../base/redact.js";
import { lockFile, systemCall } from "../../base/system-call.js";
import { withLock } from "../../files/with-lock.js";
import { EXIT_CODES, runNotebook } from "../../notebook/run-notebook.js";
import { writeRun, type Run } from "./history.js";
import { adoptOrphans, ProcessTree, RUN_VARIABLE } from "./process-tree.js";
import { BUSY, SCHEDULER_ENDED, type FromRun, type Job, type ToRun } from "./run.js";

const LONGEST_ERROR = 4_000;

/**
 * The process of one scheduled run: holds the notebook's lock, runs it and writes the record, also
 * where the scheduler is killed just then. Without a scheduler it ends, and all that it started.
 */
async function main({ run, path, folder }: Job): Promise<number> {
  const busy = "busy";
  try {
    return await withLock(join(folder, "lock"), () => locked(), 0, busy);
  } catch (error) {
    if ((error as Error).message === busy) return BUSY;
    await told({ ...run, ...failure(error) });
    return 1;
  }

  async function locked(): Promise<number> {
    // Another schedule may run the same notebook into another folder.
    const file = await open(path, "r").catch(() => undefined);
    try {
      const locks = systemCall("getpid", []) !== undefined;
      if (file !== undefined && locks && !lockFile(file.fd)) return BUSY;
      await writeRun(folder, run);
      const ended = await made();
      await tree.kill(false);
      await writeRun(folder, ended).catch(() => told(ended));
      return ended.exit ?? 1;
    } finally {
      await file?.close();
    }
  }

  async function made(): Promise<Run> {
    const begun = performance.now();
    const after = () => ({ seconds: (performance.now() - begun) / 1000 });
    try {
      const out = join(folder, run.id);
      const outcome = await runNotebook(path, { out, signal: stop.signal });
      const page = `${run.id}/${basename(outcome.page)}`;
      const common = { ...run, ...after(), page, rowsRead: outcome.rowsRead };
      if (outcome.message === undefined) return { ...common, state: "ok", exit: 0 };
      const { state = outcome.status, error = outcome.message } = stopped ?? {};
      const exit = state in EXIT_CODES ? EXIT_CODES[state as keyof typeof EXIT_CODES] : 130;
      return { ...common, state, exit, error: short(error) };
    } catch (error) {
      return { ...run, ...after(), ...failure(error), ...(stopped && { ...stopped, exit: 130 }) };
    }
  }
}

function failure(error: unknown): Pick<Run, "state" | "exit" | "error"> {
  return { state: "error", exit: 1, error: short((error as Error).message) };
}

function short(text: string): string {
  const plain = redact(text);
  return plain.length > LONGEST_ERROR ? `${plain.slice(0, LONGEST_ERROR - 1)}…` : plain;
}

function told(unwritten: Run): Promise<void> {
  const message: FromRun = { unwritten };
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, () => resolve());
  });
}

const stop = new AbortController();
let stopped: { readonly state: Run["state"]; readonly error: string } | undefined;
const tree = new ProcessTree(process.pid, process.env[RUN_VARIABLE] ?? "");

adoptOrphans();
keepSecretsOf(process.env);
// The scheduler says when to stop; a terminal's Ctrl-C and systemd's SIGTERM reach it, too.
process.on("SIGINT", () => undefined).on("SIGTERM", () => undefined);
process.on("disconnect", () => {
  // Its cells end before it does: that is no failure of theirs.
  stopped ??= { state: "interrupted", error: SCHEDULER_ENDED };
  void tree.kill(true);
});
process.on("message", (message: ToRun) => {
  if ("stop" in message) {
    stopped ??= message.stop;
    stop.abort();
  } else {
    void main(message.job).then((code) => process.exit(code));
  }
});
