import { hideSecrets } from "../base/redact.js";

type Name = "stdout" | "stderr";

const everyMilliseconds = 50;
const mostCharacters = 1_000_000;

/**
 * Puts the small pieces that a cell prints together: a message for every `console.log` of a loop would
 * drown the frontend. The first piece goes at once, later ones at most 50 ms after they were printed.
 */
export class StreamBatch {
  readonly #send: (name: Name, text: string) => void;
  #name: Name = "stdout";
  #pieces: string[] = [];
  #size = 0;
  #last = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (name: Name, text: string) => void) {
    this.#send = send;
  }

  write(name: Name, text: string): void {
    if (name !== this.#name) this.flush();
    this.#name = name;
    this.#pieces.push(text);
    this.#size += text.length;
    const due = this.#last + everyMilliseconds - performance.now();
    if (due <= 0 || this.#size >= mostCharacters) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), due);
  }

  /** Sends what waits; to be called before anything else of the cell is sent. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#size === 0) return;
    const text = hideSecrets(this.#pieces.join(""));
    this.#pieces = [];
    this.#size = 0;
    this.#last = performance.now();
    for (let start = 0; start < text.length;) {
      const end = characterEnd(text, start + mostCharacters);
      this.#send(this.#name, text.slice(start, end));
      start = end;
    }
  }
}

/** Not between the halves of a character outside of the basic plane. */
function characterEnd(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return end < text.length && code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}
