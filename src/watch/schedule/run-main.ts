import { ProbelabError } from "../../base/error.js";
import { keepSecretsOf, redact } from "../../base/redact.js";
import { runNotebook, type RunOutcome } from "../../notebook/run-notebook.js";
import { RUN_VARIABLE, endProcesses } from "../../base/processes.js";

/** The scheduler's request. */
export interface RunRequest {
  readonly path: string;
  readonly out: string;
}

/** The answer to it. */
export type RunAnswer = Pick<RunOutcome, "status" | "rowsRead"> & {
  readonly message: string | null;
};

/** Time to write what the notebook had shown, where the scheduler is no longer there to end the run. */
const GRACE_MS = 8_000;

// The process of one scheduled run: its page is made within the run's limits too.
const id = process.env[RUN_VARIABLE] ?? "";
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
process.once("disconnect", () => {
  stop.abort();
  setTimeout(() => void endProcesses({ id }), GRACE_MS);
});
keepSecretsOf(process.env);
process.once("message", (request: RunRequest) => void run(request));

async function run({ path, out }: RunRequest): Promise<void> {
  let answer: RunAnswer;
  try {
    const outcome = await runNotebook(path, { out, signal: stop.signal });
    const { status, rowsRead, message = null } = outcome;
    answer = { status, rowsRead, message: message && redact(message) };
  } catch (error) {
    const message = error instanceof ProbelabError ? error.message : redact(String(error));
    answer = { status: "error", rowsRead: 0, message };
  }
  await endProcesses({ id, except: process.pid });
  if (!process.connected) process.exit();
  process.send!(answer, () => process.exit());
}
