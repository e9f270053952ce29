import type { CellSession } from "../cell-session.js";
import { StreamBatch, type CellOutput } from "../outputs.js";
import { languageInfo, ownPackage } from "../own-package.js";
import type { Channel, Connection, Message } from "./connection.js";
import { completeReply, inspectReply, isCompleteReply } from "./language-answers.js";

/** Time in which requests that are on their way when a cell fails arrive: they are aborted with it. */
const abortMilliseconds = 20;

/** Time for the frontends' first messages, before the kernel is busy with its first program. */
const warmUpMilliseconds = 20;

/** A Jupyter kernel: answers the frontends' requests from a session, in order. */
export class Kernel {
  readonly #session: CellSession;
  readonly #connection: Connection;
  readonly #shutDown: () => void;
  readonly #waiting: Message[] = [];
  readonly #aborted = new WeakSet<Message>();
  readonly #history: [session: number, line: number, input: string][] = [];
  #working = false;
  #hasEnded = false;
  #count = 0;

  constructor(session: CellSession, connection: Connection, shutDown: () => void) {
    this.#session = session;
    this.#connection = connection;
    this.#shutDown = shutDown;
  }

  /** Takes a request: those of the shell wait for the running cell, those of the control channel don't. */
  take(channel: Channel, request: Message): void {
    this.#session.repair();
    if (channel === "control") {
      this.#within(request, () => this.#control(request));
      return;
    }
    if (this.#hasEnded) return;
    this.#waiting.push(request);
    if (!this.#working) void this.#work();
  }

  /** Interrupts the running cell and drops the requests that wait for it. */
  end(): void {
    this.#hasEnded = true;
    this.#waiting.length = 0;
    this.#session.interrupt();
  }

  async #work(): Promise<void> {
    this.#working = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const request = next;
      const busy = (state: string) =>
        this.#connection.publish("status", { execution_state: state }, request);
      busy("busy");
      try {
        if (request.header.msg_type === "execute_request") await this.#execute(request);
        else this.#answer("shell", request);
      } catch (error) {
        this.#fail("shell", request, error);
      }
      busy("idle");
    }
    this.#working = false;
  }

  #within(request: Message, answer: () => void): void {
    this.#connection.publish("status", { execution_state: "busy" }, request);
    try {
      answer();
    } catch (error) {
      this.#fail("control", request, error);
    }
    this.#connection.publish("status", { execution_state: "idle" }, request);
  }

  #control(request: Message): void {
    const reply = (type: string, content: object) =>
      this.#connection.reply("control", request, type, content);
    switch (request.header.msg_type) {
      case "interrupt_request":
        this.#session.interrupt();
        return reply("interrupt_reply", { status: "ok" });
      case "shutdown_request":
        return this.#shutdown("control", request);
      default:
        this.#answer("control", request);
    }
  }

  #answer(channel: Channel, request: Message): void {
    const { content } = request;
    const reply = (type: string, answer: object) =>
      this.#connection.reply(channel, request, type, answer);
    switch (request.header.msg_type) {
      case "kernel_info_request":
        reply("kernel_info_reply", kernelInfo());
        setTimeout(() => this.#session.warmUp(), warmUpMilliseconds);
        return;
      case "complete_request":
        return reply("complete_reply", completeReply(this.#session, content));
      case "inspect_request":
        return reply("inspect_reply", inspectReply(this.#session, content));
      case "is_complete_request":
        return reply("is_complete_reply", isCompleteReply(content));
      case "comm_info_request":
        return reply("comm_info_reply", { status: "ok", comms: {} });
      case "history_request":
        return reply("history_reply", {
          status: "ok",
          history: this.#history.slice(-Number(content["n"] ?? 0)),
        });
      case "comm_open": // Cells have no widgets: the protocol asks to close it.
        return this.#connection.publish(
          "comm_close",
          { comm_id: content["comm_id"], data: {} },
          request,
        );
      case "shutdown_request":
        return this.#shutdown(channel, request);
      case "execute_request":
        throw new Error("cells are run by the shell channel");
      default: // comm_msg, comm_close and messages of later versions of the protocol.
        return;
    }
  }

  async #execute(request: Message): Promise<void> {
    const reply = (content: object) =>
      this.#connection.reply("shell", request, "execute_reply", content);
    if (this.#aborted.has(request)) return reply({ status: "aborted" });
    const code = String(request.content["code"]);
    const silent = request.content["silent"] === true;
    const stored = !silent && request.content["store_history"] !== false;
    if (stored) this.#history.push([0, ++this.#count, code]);
    const count = this.#count;
    const publish = (type: string, content: object) => {
      if (!silent || type === "error") this.#connection.publish(type, content, request);
    };
    publish("execute_input", { code, execution_count: count });
    const streams = new StreamBatch((name, text) => publish("stream", { name, text }));
    const outcome = await this.#session.run(code, `cell-${count}`, (output) => {
      if (output.type === "stream") return streams.write(output.name, output.text);
      streams.flush();
      publish(...messageOf(output, count));
    });
    streams.flush();
    if (outcome.status === "ok") {
      return reply({ status: "ok", execution_count: count, payload: [], user_expressions: {} });
    }
    if (request.content["stop_on_error"] !== false) await this.#abortWaiting();
    reply({ status: "error", execution_count: count, ...outcome.error });
  }

  /** Aborts the cells that were requested before the frontend could know of the error. */
  async #abortWaiting(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, abortMilliseconds));
    for (const request of this.#waiting) {
      if (request.header.msg_type === "execute_request") this.#aborted.add(request);
    }
  }

  #shutdown(channel: Channel, request: Message): void {
    const content = { status: "ok", restart: request.content["restart"] === true };
    this.#connection.reply(channel, request, "shutdown_reply", content);
    this.#connection.publish("shutdown_reply", content, request);
    setImmediate(this.#shutDown);
  }

  #fail(channel: Channel, request: Message, error: unknown): void {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    const type = request.header.msg_type.replace(/_request$/, "_reply");
    this.#connection.reply(channel, request, type, {
      status: "error",
      ename: name,
      evalue: message,
      traceback: [],
    });
  }
}

/** An output other than a stream as a message to the frontends. */
function messageOf(
  output: Exclude<CellOutput, { type: "stream" }>,
  count: number,
): [type: string, content: object] {
  if (output.type === "error") return ["error", output.error];
  if (output.type === "result") {
    return ["execute_result", { ...output.bundle, execution_count: count }];
  }
  const transient = output.displayId === undefined ? {} : { display_id: output.displayId };
  const type = output.update ? "update_display_data" : "display_data";
  return [type, { ...output.bundle, transient }];
}

function kernelInfo(): object {
  const { name, version } = ownPackage();
  return {
    status: "ok",
    protocol_version: "5.3",
    implementation: name,
    implementation_version: version,
    language_info: languageInfo(),
    banner: `TypeScript cells of ${name} ${version}, Node ${process.versions.node}`,
    help_links: [
      { text: "TypeScript handbook", url: "https://www.typescriptlang.org/docs/handbook/" },
    ],
    debugger: false,
  };
}
