import type { CellOutput } from "./cell-output.js";

const mostCharacters = 1_000_000;
const retryMilliseconds = 20;

/**
 * The outputs of a cell on their way to the runner: each at once, but what is printed while the channel is
 * full is put together. A loop that prints a million lines would else hold a message for each of them.
 */
export class ChannelOutput {
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
