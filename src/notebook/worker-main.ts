import { pendingWork } from "../base/pending-work.js";
import { onSecret } from "../base/redact.js";
import { rowsReadSoFar } from "../progress/query-progress.js";
import { BackgroundErrors } from "./background-errors.js";
import type { NamedCode } from "./cell-compiler.js";
import { CellSession } from "./cell-session.js";
import type { FromWorker, ToWorker } from "./notebook-process.js";
import { MOST_PRINTED, StreamBatch, type CellOutput } from "./outputs.js";
import { startWatchThread } from "./watch-thread.js";

/** The process of one headless notebook: runs the cells that the runner sends and reports their outputs. */
async function main(): Promise<void> {
  const isWatched = startWatchThread();
  const session = new CellSession();
  const background = new BackgroundErrors();
  const numbers = new Map<string | undefined, number>();
  const send = (message: FromWorker): void => {
    if (process.connected) process.send?.(message);
  };
  const sendBackgroundErrors = () => {
    for (const { reason, cell, isRejection } of background.take()) {
      const error = session.backgroundError(reason, isRejection);
      send({ type: "background", cell: numbers.get(cell), error });
    }
  };
  const run = async (cell: number, { name, code }: NamedCode) => {
    numbers.set(name, cell);
    const put = (output: CellOutput) => send({ type: "output", cell, output });
    const streams = new StreamBatch(
      (stream, text) => put({ type: "stream", name: stream, text }),
      MOST_PRINTED,
    );
    const outcome = await session.run(code, name, (output) => {
      if (output.type === "stream") return streams.write(output.name, output.text);
      streams.flush();
      put(output);
    });
    // Node reports an unhandled rejection only after the turn.
    await new Promise(setImmediate);
    streams.flush();
    sendBackgroundErrors();
    send({ type: "ended", cell, outcome, rowsRead: rowsReadSoFar() });
  };
  const finish = async () => {
    await pendingWork();
    sendBackgroundErrors();
    send({ type: "finished", rowsRead: rowsReadSoFar() });
  };
  process.on("message", (message: ToWorker) => {
    switch (message.type) {
      case "check":
        return send({ type: "checked", objections: session.check(message.cells) });
      case "run":
        return void run(message.cell, message.code);
      case "interrupt":
        return session.interrupt();
      case "finish":
        return void finish();
      case "end":
        process.disconnect();
    }
  });
  process.on("disconnect", () => process.exit());
  process.on("SIGINT", () => session.interrupt());
  // For the runner, which keeps what the processes print that the cells start.
  onSecret((secret) => send({ type: "secret", secret }));
  await isWatched;
  send({ type: "ready" });
}

await main();
