import { pendingWork } from "../base/pending-work.js";
import { rowsReadSoFar } from "../progress/query-progress.js";
import { BackgroundErrors, showWarnings } from "./background-errors.js";
import { CellSession } from "./cell-session.js";
import type { CellOutput } from "./outputs.js";
import { StreamBatch } from "./stream-batch.js";
import { startWatchThread } from "./watch-thread.js";
import type { FromWorker, NamedCode, ToWorker } from "./worker-messages.js";

/** The process of one notebook that is run headless: takes cells from the runner, gives it their outputs. */
async function main(): Promise<void> {
  const isWatched = startWatchThread();
  const session = new CellSession();
  const background = new BackgroundErrors();
  const numbers = new Map<string | undefined, number>();
  const tell = (message: FromWorker): void => {
    if (process.connected) process.send?.(message);
  };
  const tellBackground = () => {
    for (const each of background.take()) {
      const error = session.backgroundError(each);
      tell({ type: "background", cell: numbers.get(each.cell), error });
    }
  };
  const run = async (cell: number, { name, code }: NamedCode) => {
    numbers.set(name, cell);
    const put = (output: CellOutput) => tell({ type: "output", cell, output });
    const streams = new StreamBatch((stream, text) => put({ type: "stream", name: stream, text }));
    const outcome = await session.run(code, name, (output) => {
      if (output.type === "stream") return streams.write(output.name, output.text);
      streams.flush();
      put(output);
    });
    // Node tells a rejection only when the turn is over.
    await new Promise(setImmediate);
    streams.flush();
    tellBackground();
    tell({ type: "ended", cell, outcome, rowsRead: rowsReadSoFar() });
  };
  const finish = async () => {
    await pendingWork();
    tellBackground();
    tell({ type: "finished", rowsRead: rowsReadSoFar() });
  };
  process.on("message", (message: ToWorker) => {
    if (message.type === "check") {
      tell({ type: "checked", objections: session.check(message.cells) });
    }
    if (message.type === "run") void run(message.cell, message.code);
    if (message.type === "interrupt") session.interrupt();
    if (message.type === "finish") void finish();
    if (message.type === "end") process.disconnect();
  });
  process.on("disconnect", () => process.exit());
  process.on("SIGINT", () => session.interrupt());
  showWarnings();
  await isWatched;
  tell({ type: "ready" });
}

await main();
