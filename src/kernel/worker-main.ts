import { pendingWork } from "../base/pending-work.js";
import { onSecret } from "../base/redact.js";
import { rowsReadSoFar } from "../base/query-progress.js";
import type { NamedCode } from "./check.js";
import { CellSession } from "./session.js";
import type { FromWorker, ToWorker } from "./notebook-process.js";
import type { CellOutcome, CellOutput } from "./outputs.js";
import { startWatchThread } from "./watch-thread.js";

/** The process of one headless notebook: runs the cells that the runner sends and reports their outputs. */
async function main(): Promise<void> {
  const isWatched = startWatchThread();
  const session = new CellSession();
  // The runner takes what comes for the session's: a cell, or a library in it, has no parent to send to.
  const post = process.send!.bind(process) as (message: FromWorker) => void;
  delete process.send;
  const send = (message: FromWorker): void => {
    if (process.connected) post(message);
  };
  let isEnding = false;
  let drawsCharts = false;
  const reportEnd = (outcome: CellOutcome) => {
    for (const error of session.takeBackgroundErrors()) send({ type: "background", ...error });
    send({ type: "ended", outcome, rowsRead: rowsReadSoFar() });
  };
  const run = async ({ name, code }: NamedCode) => {
    const sink = (output: CellOutput) => send({ type: "output", cell: name, output });
    const outcome = await session.run(code, name, sink);
    // Node reports an unhandled rejection only after the turn.
    await new Promise(setImmediate);
    reportEnd(outcome);
  };
  process.on("message", (message: ToWorker) => {
    switch (message.type) {
      case "check":
        drawsCharts = message.cells.some(({ code }) => /\bchart\b/.test(code));
        return void session
          .check(message.cells)
          .catch(() => []) // The cell says why it can't be checked.
          .then((objections) => send({ type: "checked", objections }));
      case "run":
        void run(message.code);
        // While the cell waits for its database, Vega is loaded.
        if (drawsCharts) void import("../chart/page.js").then(({ loadPictures }) => loadPictures());
        drawsCharts = false;
        return;
      case "interrupt":
        return session.interrupt();
      case "finish":
        return void pendingWork().then(() => {
          session.flush();
          reportEnd({ status: "ok" });
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
