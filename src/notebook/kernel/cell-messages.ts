import type { CellOutput, OutputSink } from "../cell-output.js";
import { StreamBatch } from "./stream-batch.js";

type Publish = (type: string, content: object) => void;

/** The outputs of one cell as messages to the frontends. */
export class CellMessages {
  readonly #publish: Publish;
  readonly #count: number;
  readonly #streams: StreamBatch;

  constructor(publish: Publish, count: number) {
    this.#publish = publish;
    this.#count = count;
    this.#streams = new StreamBatch((name, text) => publish("stream", { name, text }));
  }

  readonly sink: OutputSink = (output: CellOutput) => {
    if (output.type === "stream") return this.#streams.write(output.name, output.text);
    this.#streams.flush();
    switch (output.type) {
      case "display": {
        const transient = output.displayId === undefined ? {} : { display_id: output.displayId };
        const type = output.update ? "update_display_data" : "display_data";
        return this.#publish(type, { ...output.bundle, transient });
      }
      case "result":
        return this.#publish("execute_result", { ...output.bundle, execution_count: this.#count });
      case "error":
        return this.#publish("error", output.error);
      case "clear":
        return this.#publish("clear_output", { wait: output.wait });
    }
  };

  flush(): void {
    this.#streams.flush();
  }
}
