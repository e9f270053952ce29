import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { pendingWork } from "../base/pending-work.js";
import { isComplete } from "./check.js";
import { CellSession } from "./session.js";
import { VariablesView } from "./variables-view.js";
import type { CellOutput } from "./outputs.js";
import { languageInfo, ownPackage } from "./kernelspec.js";
import { startWatchThread } from "./watch-thread.js";
import { Connection, type Channel, type ConnectionInfo, type Message } from "./protocol.js";

/** Time to write what the cells started when the kernel is shut down; Jupyter kills it after 5 s. */
const shutdownMilliseconds = 4_000;

/** Time in which requests that are on their way when a cell fails arrive: they are aborted with it. */
const abortMilliseconds = 20;

/**
 * Starts the kernel that Jupyter asked for, in this process and its working directory.
 *
 * @param connectionFile that Jupyter wrote for it
 */
export async function startKernel(connectionFile: string): Promise<void> {
  const connection = new Connection(
    JSON.parse(readFileSync(connectionFile, "utf8")) as ConnectionInfo,
  );
  const isWatched = startWatchThread();
  const log = process.stderr.write.bind(process.stderr);
  const session = new CellSession(() => {
    for (const { error } of session.takeBackgroundErrors()) {
      process.stderr.write(`${error.traceback.join("\n")}\n`);
    }
  });
  let isEnding = false;
  const end = async () => {
    if (isEnding) return;
    isEnding = true;
    // Jupyter sends SIGTERM while the kernel ends. Without a listener before, it ends a kernel whose cell never
    // lets it read the shutdown request (a loop of microtasks, execSync).
    process.on("SIGTERM", () => undefined);
    kernel.end();
    // Finishes what cells started to write without an await.
    await Promise.race([pendingWork(), setTimeout(shutdownMilliseconds)]);
    connection.close();
    // Sockets linger until what was sent has arrived; open connections of the notebook don't hold the kernel.
    await setTimeout(100);
    process.exit(0);
  };
  const kernel = new Kernel(session, connection, () => void end());
  process.on("SIGINT", () => session.interrupt());
  await isWatched;
  await connection.bind();
  connection.listen(
    (channel, message) => kernel.take(channel, message),
    (reason) => log(`probelab: a message was dropped: ${reason}\n`),
  );
  connection.publish("status", { execution_state: "starting" }, undefined);
}

/** A Jupyter kernel: answers the frontends' requests from a session, in order. */
export class Kernel {
  readonly #session: CellSession;
  readonly #connection: Connection;
  readonly #shutDown: () => void;
  readonly #waiting: Message[] = [];
  readonly #aborted = new WeakSet<Message>();
  readonly #view: VariablesView;
  #running: Message | undefined;
  #working = false;
  #hasEnded = false;
  #count = 0;

  constructor(session: CellSession, connection: Connection, shutDown: () => void) {
    this.#session = session;
    this.#view = new VariablesView(() => session.variables());
    this.#connection = connection;
    this.#shutDown = shutDown;
  }

  /** Takes a request: those of the shell wait for the running cell, those of the control channel don't. */
  take(channel: Channel, request: Message): void {
    if (channel === "control") return void this.#handle(channel, request);
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
      const handled = this.#handle("shell", next);
      // No cell waits for a completion: an interrupt ends what a cell waits for alone.
      if (next.header.msg_type === "execute_request") await handled;
    }
    this.#working = false;
  }

  /** Answers a request, busy meanwhile. What doesn't wait for a cell is answered at once. */
  async #handle(channel: Channel, request: Message): Promise<void> {
    const type = request.header.msg_type;
    const state = (execution_state: string) =>
      this.#connection.publish("status", { execution_state }, request);
    state("busy");
    try {
      if (type === "execute_request" && channel === "shell") await this.#execute(request);
      else await this.#answer(channel, request);
    } catch (error) {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      const content = { status: "error", ename: name, evalue: message, traceback: [] };
      this.#connection.reply(channel, request, type.replace(/_request$/, "_reply"), content);
    }
    state("idle");
  }

  async #answer(channel: Channel, request: Message): Promise<void> {
    const { content } = request;
    const reply = (type: string, answer: object) =>
      this.#connection.reply(channel, request, type, answer);
    switch (request.header.msg_type) {
      case "kernel_info_request":
        return reply("kernel_info_reply", kernelInfo());
      case "complete_request":
        return reply("complete_reply", await completeReply(this.#session, content));
      case "inspect_request":
        return reply("inspect_reply", await inspectReply(this.#session, content));
      case "is_complete_request":
        return reply("is_complete_reply", isCompleteReply(content));
      case "debug_request":
        return reply("debug_reply", await this.#view.answer(content));
      case "comm_info_request":
        return reply("comm_info_reply", { status: "ok", comms: {} });
      case "history_request":
        return reply("history_reply", { status: "ok", history: [] });
      case "comm_open": // Cells have no widgets: the protocol asks to close it.
        return this.#connection.publish(
          "comm_close",
          { comm_id: content["comm_id"], data: {} },
          request,
        );
      case "interrupt_request":
        if (this.#isBefore(request)) this.#session.endBackground();
        else this.#session.interrupt();
        return reply("interrupt_reply", { status: "ok" });
      case "shutdown_request": {
        const answer = { status: "ok", restart: content["restart"] === true };
        reply("shutdown_reply", answer);
        this.#connection.publish("shutdown_reply", answer, request);
        return void setImmediate(this.#shutDown);
      }
      case "execute_request":
        throw new Error("cells are run by the shell channel");
      default: // comm_msg, comm_close and messages of later versions of the protocol.
        return;
    }
  }

  /** True for a request of the frontend that sent it before the cell that runs: the channels aren't in order. */
  #isBefore({ header }: Message): boolean {
    const running = this.#running?.header;
    return (
      running?.["session"] === header["session"] &&
      String(header["date"]) < String(running?.["date"])
    );
  }

  async #execute(request: Message): Promise<void> {
    this.#running = request;
    const reply = (content: object) =>
      this.#connection.reply("shell", request, "execute_reply", content);
    if (this.#aborted.has(request)) return reply({ status: "aborted" });
    const code = String(request.content["code"]);
    const silent = request.content["silent"] === true;
    const stored = !silent && request.content["store_history"] !== false;
    if (stored) this.#count++;
    const count = this.#count;
    const publish = (type: string, content: object) => {
      if (!silent || type === "error") this.#connection.publish(type, content, request);
    };
    publish("execute_input", { code, execution_count: count });
    const put = (output: CellOutput) => publish(...messageOf(output, count));
    // JupyterLab and Notebook 7 say which cells were deleted; no other frontend does.
    const sink = Object.assign(put, { addsPng: "deletedCells" in request.metadata });
    const outcome = await this.#session.run(code, `cell-${count}`, sink);
    if (outcome.status === "ok") {
      const user_expressions = await this.#evaluated(request.content["user_expressions"]);
      return reply({ status: "ok", execution_count: count, payload: [], user_expressions });
    }
    if (request.content["stop_on_error"] !== false) await this.#abortWaiting();
    reply({ status: "error", execution_count: count, ...outcome.error });
  }

  /** The values of expressions that a frontend asks for after a cell: each a bundle, or its error. */
  async #evaluated(expressions: unknown): Promise<Record<string, object>> {
    const values: Record<string, object> = {};
    for (const [name, code] of Object.entries(Object(expressions) as object)) {
      let value: object = { data: {}, metadata: {} };
      const sink = (output: CellOutput) => {
        if (output.output_type !== "execute_result") return;
        value = { data: output.data, metadata: output.metadata };
      };
      const outcome = await this.#session.run(String(code), "expression", sink);
      values[name] =
        outcome.status === "ok"
          ? { status: "ok", ...value }
          : { status: "error", ...outcome.error };
    }
    return values;
  }

  /** Aborts the cells that were requested before the frontend could know of the error. */
  async #abortWaiting(): Promise<void> {
    await setTimeout(abortMilliseconds);
    for (const request of this.#waiting) {
      if (request.header.msg_type === "execute_request") this.#aborted.add(request);
    }
  }
}

/** An output as a message to the frontends. */
function messageOf(output: CellOutput, execution_count: number): [type: string, content: object] {
  const { output_type: type, ...content } = output;
  if (type === "execute_result") return [type, { ...content, execution_count }];
  if (type !== "display_data") return [type, content];
  const { update, ...display } = { transient: {}, update: false, ...content };
  return [update ? "update_display_data" : type, display];
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
    // What a Variables view asks for.
    debugger: true,
    supported_features: ["debugger"],
  };
}

type Content = Readonly<Record<string, unknown>>;

/** The Language Server Protocol's kinds of completions that frontends have an icon for. */
const KINDS: Readonly<Record<number, string>> = {
  ...{ 2: "method", 3: "function", 5: "property", 6: "variable", 7: "class", 8: "interface" },
  ...{ 9: "module", 10: "property", 13: "enum", 14: "keyword", 20: "enum member", 21: "const" },
};

/** Tells a console to run what was typed, or to go on in the next line. */
function isCompleteReply({ code }: Content): object {
  const text = String(code);
  const whole = isComplete(text);
  if (whole !== false) return { status: whole ? "complete" : "invalid" };
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  const indent = /^\s*/.exec(line)?.[0] ?? "";
  return { status: "incomplete", indent: /[{([]$/.test(line) ? `${indent}  ` : indent };
}

/** Completions at the cursor: those that start with the word there, then those that contain it. */
async function completeReply(session: CellSession, { code, cursor_pos }: Content): Promise<object> {
  const text = String(code);
  const { items, start, end } = await session.completions(text, toUtf16(text, Number(cursor_pos)));
  const word = text.slice(start, end).toLowerCase();
  const matches = items
    .flatMap(({ label, kind = 0, sortText = "" }) => {
      const name = label.replace(/\?$/, ""); // An optional property.
      const at = name.toLowerCase().indexOf(word);
      const order = `${Math.min(at, 1)}${sortText}`;
      return at < 0 ? [] : [{ name, kind: KINDS[kind] ?? "text", order }];
    })
    .sort((a, b) => a.order.localeCompare(b.order));
  const [from, to] = [toCharacters(text, start), toCharacters(text, end)];
  const types = matches.map(({ name, kind }) => ({ text: name, type: kind, start: from, end: to }));
  return {
    status: "ok",
    matches: matches.map(({ name }) => name),
    cursor_start: from,
    cursor_end: to,
    metadata: { _jupyter_types_experimental: types },
  };
}

/** The signature, documentation and tags of the name at the cursor. */
async function inspectReply(session: CellSession, { code, cursor_pos }: Content): Promise<object> {
  const text = String(code);
  const markdown = await session.inspect(text, toUtf16(text, Number(cursor_pos)));
  if (markdown === undefined) return { status: "ok", found: false, data: {}, metadata: {} };
  const plain = markdown
    .replace(/^```.*\n/gm, "")
    .replace(/\*(@\w+)\*/g, "$1")
    .trim();
  const data = { "text/plain": plain, "text/markdown": markdown };
  return { status: "ok", found: true, data, metadata: {} };
}

/** Jupyter counts characters, JavaScript counts UTF-16 units. */
function toUtf16(text: string, characters: number): number {
  return Array.from(text).slice(0, characters).join("").length;
}

function toCharacters(text: string, units: number): number {
  return Array.from(text.slice(0, units)).length;
}
