import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Dealer, Subscriber } from "zeromq";
import { Wire } from "../../src/kernel/protocol.js";

/** A kernel and the least of a frontend that can time it: the same for every kernel. */
export class KernelClient implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "probelab-bench-"));
  readonly #key = randomUUID();
  readonly #wire = new Wire(this.#key);
  readonly #shell = new Dealer({ linger: 0 });
  readonly #iopub = new Subscriber({ linger: 0 });
  #process: ChildProcess | undefined;

  /**
   * Starts a kernel. @returns seconds until it answered kernel_info_request
   *
   * @param environment what its kernel.json adds to the environment
   * @param options.program what runs it; default this Node
   */
  async start(
    argv: (connectionFile: string) => string[],
    environment: NodeJS.ProcessEnv,
    { program = process.execPath, cwd }: { program?: string; cwd?: string } = {},
  ): Promise<number> {
    const [shell, iopub, control, stdin, hb] = await Promise.all(
      Array.from({ length: 5 }, freePort),
    );
    const file = join(this.#folder, "connection.json");
    const info = {
      transport: "tcp",
      ip: "127.0.0.1",
      signature_scheme: "hmac-sha256",
      key: this.#key,
      shell_port: shell,
      iopub_port: iopub,
      control_port: control,
      stdin_port: stdin,
      hb_port: hb,
    };
    writeFileSync(file, JSON.stringify(info));
    const begun = performance.now();
    this.#process = spawn(program, argv(file), {
      stdio: "ignore",
      cwd,
      env: { ...process.env, ...environment },
    });
    this.#shell.connect(`tcp://127.0.0.1:${shell}`);
    this.#iopub.connect(`tcp://127.0.0.1:${iopub}`);
    this.#iopub.subscribe("");
    await this.#request("kernel_info_request", {});
    return (performance.now() - begun) / 1000;
  }

  /** Runs a cell. @param metadata what a frontend says of itself @returns milliseconds until its reply @throws Error where the cell fails */
  async run(code: string, metadata = {}): Promise<number> {
    const begun = performance.now();
    const content = { code, silent: false, store_history: true };
    const reply = await this.#request("execute_request", content, metadata);
    const took = performance.now() - begun;
    if (reply["status"] !== "ok")
      throw new Error(`The cell failed: ${code}\n${JSON.stringify(reply)}`);
    return took;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /**
   * CPU that the kernel and its processes have used, in seconds: also on a machine that does other work, unlike
   * the time.
   */
  cpu(): number {
    return sum(this.#pids(), (pid) => {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")")).split(" ");
      const [user = NaN, system = NaN] = fields.slice(12).map(Number);
      return (user + system) / 100;
    });
  }

  /** Memory that the kernel and its processes hold, in MB. */
  memory(): number {
    return sum(this.#pids(), (pid) => {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
    });
  }

  /** The kernel and what it started, such as a language server. */
  #pids(): number[] {
    const of = (pid: number): number[] => {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
      return [pid, ...children.split(" ").filter(Boolean).map(Number).flatMap(of)];
    };
    return of(this.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = new Promise((resolve) => this.#process?.once("exit", resolve));
    this.#process?.kill("SIGKILL");
    await gone;
    this.#shell.close();
    this.#iopub.close();
    rmSync(this.#folder, { recursive: true });
  }

  async #request(
    type: string,
    content: object,
    metadata = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    const frames = this.#wire.write(type, content, undefined, [], metadata);
    const id = (JSON.parse(String(frames[2])) as { msg_id: string }).msg_id;
    await this.#shell.send(frames);
    for (;;) {
      const reply = await this.#shell.receive();
      const parent = JSON.parse(String(reply.at(-3))) as { msg_id?: string };
      if (parent.msg_id === id) return this.#wire.read(reply).content;
    }
  }
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
