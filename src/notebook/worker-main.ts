import { pendingWork } from "../base/pending-work.js";
import { BackgroundErrors, showWarnings } from "./background-errors.js";
import { CellSession } from "./cell-session.js";
import type { CellOutput } from "./outputs.js";
import { startWatchThread } from "./watch-thread.js";
import type { FromWorker, NamedCode, ToWorker } from "./worker-messages.js";

const mostCharacters = 1_000_000;
const retryMilliseconds = 20;

/**
 * The outputs of a cell on their way to the runner: each at once, but what is printed while the channel is
 * full is put together. A loop that prints a million lines would else hold a message for each of them.
 */
class ChannelOutput {
  readonly #send: (output: CellOutput) => boolean;
  #isFull = false;
  #text = "";
  #name: "stdout" | "stderr" = "stdout";

  /** @param send false where the channel is full: the output waits in this process */
  constructor(send: (output: CellOutput) => boolean) {
    this.#send = send;
  }

  readonly sink = (output: CellOutput): void => {
    if (output.type !== "stream") {
      this.flush();
      this.#send(output);
      return;
    }
    if (output.name !== this.#name) this.flush();
    this.#name = output.name;
    this.#text += output.text;
    if (!this.#isFull || this.#text.length >= mostCharacters) this.flush();
  };

  /** Sends what waits; to be called before the end of the cell is told. */
  flush(): void {
    if (this.#text === "") return;
    const text = this.#text;
    this.#text = "";
    const isRoom = this.#send({ type: "stream", name: this.#name, text });
    if (isRoom || this.#isFull) return;
    this.#isFull = true;
    setTimeout(() => {
      this.#isFull = false;
      this.flush();
    }, retryMilliseconds);
  }
}

/** The process of one notebook that is run headless: takes cells from the runner, gives it their outputs. */
async function main(): Promise<void> {
  const isWatched = startWatchThread();
  const session = new CellSession();
  const background = new BackgroundErrors();
  const numbers = new Map<string | undefined, number>();
  const tell = (message: FromWorker): boolean =>
    !process.connected || process.send?.(message) !== false;
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
