import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { Publisher, Reply, Router } from "zeromq";

/** The connection file that Jupyter writes for a kernel. */
export interface ConnectionInfo {
  readonly transport: string;
  readonly ip: string;
  readonly shell_port: number;
  readonly control_port: number;
  readonly iopub_port: number;
  readonly stdin_port: number;
  readonly hb_port: number;
  readonly key: string;
}

export type Channel = "shell" | "control";

/** The header of a message; replies repeat it whole. */
export type Header = Readonly<Record<string, unknown>> & {
  readonly msg_id: string;
  readonly msg_type: string;
};

/** A message of Jupyter's protocol, as it came from a frontend. */
export interface Message {
  /** The way back to the frontend. */
  readonly identities: readonly Buffer[];
  readonly header: Header;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly content: Readonly<Record<string, unknown>>;
}

const delimiter = Buffer.from("<IDS|MSG>");

/** Converts messages from and to bytes, signed with the connection's key. */
export class Wire {
  readonly #key: string;
  readonly #session = randomUUID();

  /** @param key of the connection file; empty for unsigned messages */
  constructor(key: string) {
    this.#key = key;
  }

  /** @throws Error for frames that are no message or have a wrong signature */
  read(frames: readonly Buffer[]): Message {
    const start = frames.findIndex((frame) => frame.equals(delimiter));
    const [signature, ...parts] = start < 0 ? [] : frames.slice(start + 1);
    const [header, parent, metadata, content] = parts;
    if (!signature || !header || !parent || !metadata || !content) {
      throw new Error("it is not a message of Jupyter's protocol");
    }
    const expected = Buffer.from(this.#sign([header, parent, metadata, content]));
    if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
      throw new Error("its signature is wrong");
    }
    const read = objectIn(header);
    if (!isHeader(read)) throw new Error("its header names no message");
    return {
      identities: frames.slice(0, start),
      header: read,
      metadata: objectIn(metadata),
      content: objectIn(content),
    };
  }

  /** @param parent of the message that this one answers @param identities of a frontend, or a topic */
  write(
    type: string,
    content: object,
    parent: Header | undefined,
    identities: readonly Buffer[],
    metadata: object = {},
  ): Buffer[] {
    const header: Header = {
      msg_id: randomUUID(),
      msg_type: type,
      session: this.#session,
      username: "probelab",
      date: new Date().toISOString(),
      version: "5.3",
    };
    const parts = [header, parent ?? {}, metadata, content].map((part) =>
      Buffer.from(JSON.stringify(part)),
    );
    return [...identities, delimiter, Buffer.from(this.#sign(parts)), ...parts];
  }

  #sign(parts: readonly Buffer[]): string {
    if (this.#key === "") return "";
    const hmac = createHmac("sha256", this.#key);
    for (const part of parts) hmac.update(part);
    return hmac.digest("hex");
  }
}

function isHeader(value: Readonly<Record<string, unknown>>): value is Header {
  return typeof value["msg_id"] === "string" && typeof value["msg_type"] === "string";
}

function objectIn(frame: Buffer): Record<string, unknown> {
  const value: unknown = JSON.parse(frame.toString("utf8"));
  if (typeof value !== "object" || value === null) throw new Error("a part of it is not an object");
  return value as Record<string, unknown>;
}

/** A kernel's five sockets. */
export class Connection {
  readonly #info: ConnectionInfo;
  readonly #wire: Wire;
  readonly #shell: Router;
  readonly #control: Router;
  readonly #stdin: Router;
  readonly #iopub: Publisher;
  readonly #heartbeat = new Reply({ linger: 0 });

  constructor(info: ConnectionInfo) {
    this.#info = info;
    this.#wire = new Wire(info.key);
    // No limit: a frontend that is slower than a cell would miss outputs; and so each message is sent at once,
    // even within a synchronous loop. linger: what was sent arrives at exit.
    const options = { sendHighWaterMark: 0, sendTimeout: 0, linger: 1000 };
    this.#shell = new Router(options);
    this.#control = new Router(options);
    this.#stdin = new Router(options);
    this.#iopub = new Publisher(options);
  }

  async bind(): Promise<void> {
    const { transport, ip, ...ports } = this.#info;
    const separator = transport === "ipc" ? "-" : ":";
    const at = (port: number) => `${transport}://${ip}${separator}${port}`;
    await Promise.all([
      this.#iopub.bind(at(ports.iopub_port)),
      this.#shell.bind(at(ports.shell_port)),
      this.#control.bind(at(ports.control_port)),
      this.#stdin.bind(at(ports.stdin_port)),
      this.#heartbeat.bind(at(ports.hb_port)),
    ]);
  }

  /**
   * Calls `receive` with each message until the sockets are closed.
   *
   * @param dropped called with the reason for frames that are not a message
   */
  listen(
    receive: (channel: Channel, message: Message) => void,
    dropped: (reason: string) => void,
  ): void {
    const read = async (channel: Channel, socket: Router) => {
      for await (const frames of socket) {
        try {
          receive(channel, this.#wire.read(frames));
        } catch (error) {
          dropped(error instanceof Error ? error.message : "");
        }
      }
    };
    const echo = async () => {
      for await (const frames of this.#heartbeat) await this.#heartbeat.send(frames);
    };
    void read("shell", this.#shell);
    void read("control", this.#control);
    void echo();
  }

  /** Sends a reply to the frontend that sent `request`. */
  reply(channel: Channel, request: Message, type: string, content: object): void {
    const frames = this.#wire.write(type, content, request.header, request.identities);
    // One that has gone can't be reached.
    void (channel === "shell" ? this.#shell : this.#control).send(frames).catch(() => undefined);
  }

  /** Sends a message to all frontends. @param parent the request that it belongs to */
  publish(type: string, content: object, parent: Message | undefined): void {
    if (this.#iopub.closed) return; // What a cell prints while the kernel ends.
    void this.#iopub.send(this.#wire.write(type, content, parent?.header, [Buffer.from(type)]));
  }

  close(): void {
    for (const socket of [this.#shell, this.#control, this.#stdin, this.#iopub, this.#heartbeat]) {
      socket.close();
    }
  }
}
