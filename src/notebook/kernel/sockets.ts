import { Publisher, Reply, Router, type Writable } from "zeromq";

/** What Jupyter writes for a kernel that it starts. */
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

/** The five sockets of a kernel. */
export class Sockets {
  readonly #info: ConnectionInfo;
  readonly #shell: Router;
  readonly #control: Router;
  readonly #stdin: Router;
  readonly #iopub: Publisher;
  readonly #heartbeat: Reply;
  readonly #backlog = new Map<Writable, Buffer[][]>();

  constructor(info: ConnectionInfo) {
    this.#info = info;
    // No limit: a frontend that is slower than a cell would miss outputs. linger: what was sent arrives at exit.
    const options = { sendHighWaterMark: 0, linger: 1000 };
    this.#shell = new Router(options);
    this.#control = new Router(options);
    this.#stdin = new Router(options);
    this.#iopub = new Publisher(options);
    this.#heartbeat = new Reply({ linger: 0 });
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

  /** Hands over what arrives until the sockets are closed. */
  listen(receive: (channel: Channel, frames: Buffer[]) => void): void {
    const read = async (channel: Channel, socket: Router) => {
      for await (const frames of socket) receive(channel, frames);
    };
    const echo = async () => {
      for await (const frames of this.#heartbeat) await this.#heartbeat.send(frames);
    };
    void read("shell", this.#shell);
    void read("control", this.#control);
    void echo();
  }

  reply(channel: Channel, frames: Buffer[]): void {
    this.#send(channel === "shell" ? this.#shell : this.#control, frames);
  }

  publish(frames: Buffer[]): void {
    this.#send(this.#iopub, frames);
  }

  close(): void {
    for (const socket of [this.#shell, this.#control, this.#stdin, this.#iopub, this.#heartbeat]) {
      socket.close();
    }
  }

  /** Sends at once, also within a synchronous loop; a socket takes one message at a time. */
  #send(socket: Writable, frames: Buffer[]): void {
    const waiting = this.#backlog.get(socket);
    if (waiting) {
      waiting.push(frames);
      return;
    }
    const busy = () => {
      const more = this.#backlog.get(socket);
      if (more) more.unshift(frames);
      else {
        this.#backlog.set(socket, [frames]);
        void this.#drain(socket);
      }
    };
    try {
      socket.send(frames).catch(busy);
    } catch {
      busy();
    }
  }

  async #drain(socket: Writable): Promise<void> {
    const waiting = this.#backlog.get(socket) ?? [];
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      try {
        await socket.send(next);
        waiting.shift();
      } catch (error) {
        if ((error as { code?: string }).code !== "EBUSY") break; // Closed: nobody listens any more.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    this.#backlog.delete(socket);
  }
}
