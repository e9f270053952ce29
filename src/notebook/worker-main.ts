import { pendingWork } from "../base/pending-work.js";
import { onSecret } from "../base/redact.js";
import { rowsReadSoFar } from "../progress/query-progress.js";
import type { NamedCode } from "./cell-compiler.js";
import { CellSession } from "./cell-session.js";
import type { FromWorker, ToWorker } from "./notebook-process.js";
import type { CellOutcome, CellOutput } from "./outputs.js";
import { startWatchThread } from "./watch-thread.js";

/** The process of one headless notebook: runs the cells that the runner sends and reports their outputs. */
async function main(): Promise<void> {
  const isWatched = startWatchThread();
  const session = new CellSession();
  const send = (message: FromWorker): void => {
    if (process.connected) process.send?.(message);
  };
  let isEnding = false;
  const end = (outcome: CellOutcome) => {
    for (const error of session.takeBackgroundErrors()) send({ type: "background", ...error });
    send({ type: "ended", outcome, rowsRead: rowsReadSoFar() });
  };
  const run = async ({ name, code }: NamedCode) => {
    const sink = (output: CellOutput) => send({ type: "output", cell: name, output });
    const outcome = await session.run(code, name, sink);
    // Node reports an unhandled rejection only after the turn.
    await new Promise(setImmediate);
    end(outcome);
  };
  process.on("message", (message: ToWorker) => {
    switch (message.type) {
      case "check":
        return send({ type: "checked", objections: session.check(message.cells) });
      case "run":
        return void run(message.code);
      case "interrupt":
        return session.interrupt();
      case "finish":
        return void pendingWork().then(() => {
          session.flush();
          end({ status: "ok" });
        });
      case "end":
        isEnding = true;
        process.disconnect();
    }
  });
  process.on("disconnect", () => {
    if (isEnding) process.exit();
    // The runner was killed: what the cells started ends too.
    process.kill(process.platform === "win32" ? process.pid : -process.pid, "SIGKILL");
  });
  process.on("SIGINT", () => session.interrupt());
  // For the runner, which keeps what the processes print that the cells start.
  onSecret((secret) => send({ type: "secret", secret }));
  await isWatched;
  send({ type: "ready" });
}

await main();
