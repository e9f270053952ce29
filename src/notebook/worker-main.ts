import { pendingWork } from "../base/pending-work.js";
import { BackgroundErrors, showWarnings } from "./background-errors.js";
import { ChannelOutput } from "./channel-output.js";
import { CellSession } from "./cell-session.js";
import { startWatchThread } from "./watch-thread.js";
import type { FromWorker, NamedCode, ToWorker } from "./worker-messages.js";

/** The process of one notebook that is run headless: takes cells from the runner, gives it their outputs. */
async function main(): Promise<void> {
  const isWatched = startWatchThread();
  const session = new CellSession();
  const background = new BackgroundErrors();
  const numbers = new Map<string | undefined, number>();
  const tell = (message: FromWorker): boolean =>
    !process.connected || process.send?.(message) !== false;
  const check = (cells: readonly NamedCode[]) => {
    const found = session.check(cells);
    const objections = found.map(({ index, ...rest }) => ({ cell: index + 1, ...rest }));
    tell({ type: "checked", objections });
  };
  const tellBackground = () => {
    for (const each of background.take()) {
      const error = session.backgroundError(each);
      tell({ type: "background", cell: numbers.get(each.cell), error });
    }
  };
  const run = async (cell: number, { name, code }: NamedCode) => {
    numbers.set(name, cell);
    const channel = new ChannelOutput((output) => tell({ type: "output", cell, output }));
    const outcome = await session.run(code, name, channel.sink);
    // Node tells a rejection only when the turn is over.
    await new Promise(setImmediate);
    channel.flush();
    tellBackground();
    tell({ type: "ended", cell, outcome });
  };
  const finish = async () => {
    await pendingWork();
    tellBackground();
    tell({ type: "finished" });
  };
  process.on("message", (message: ToWorker) => {
    if (message.type === "check") check(message.cells);
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
