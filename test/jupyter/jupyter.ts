import { stripVTControlCharacters } from "node:util";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A Python that has jupyter_client, or undefined. */
export const python = [process.env["PROBELAB_TEST_PYTHON"], "/usr/bin/python3", "python3"].find(
  (program) =>
    program !== undefined &&
    spawnSync(program, ["-c", "import jupyter_client, nbclient"]).status === 0,
);

/** Why the tests against Jupyter are skipped, for their names. */
export const skipped = python === undefined ? " (skipped: no Python with jupyter_client)" : "";

/** An environment in which Jupyter finds no kernels and settings of the user but those of the test. */
export function jupyterEnvironment(): NodeJS.ProcessEnv {
  const home = mkdtempSync(join(tmpdir(), "probelab-jupyter-"));
  return {
    ...process.env,
    HOME: home,
    JUPYTER_DATA_DIR: join(home, "data"),
    JUPYTER_RUNTIME_DIR: join(home, "runtime"),
    JUPYTER_CONFIG_DIR: join(home, "config"),
    PYDEVD_DISABLE_FILE_VALIDATION: "1",
  };
}

export interface Published {
  readonly type: string;
  readonly content: Record<string, unknown>;
}

/** The reply to an execute_request and what was published for it. */
export interface Executed {
  readonly reply: Record<string, unknown>;
  readonly iopub: readonly Published[];
}

/** A kernel under jupyter_client. */
export class JupyterClient {
  readonly #process: ChildProcess;
  readonly #lines: Interface;
  readonly #waiting: ((line: string) => void)[] = [];

  constructor(environment: NodeJS.ProcessEnv) {
    const script = fileURLToPath(new URL("client.py", import.meta.url));
    const stdio = ["pipe", "pipe", "inherit"] as const;
    this.#process = spawn(python ?? "python3", [script], { env: environment, stdio: [...stdio] });
    if (!this.#process.stdout) throw new Error("The client has no output.");
    this.#lines = createInterface(this.#process.stdout);
    this.#lines.on("line", (line) => this.#waiting.shift()?.(line));
  }

  /** Calls a function of client.py. @throws Error with what went wrong there */
  async call<T = unknown>(op: string, parameters: object = {}): Promise<T> {
    const line = new Promise<string>((resolve) => this.#waiting.push(resolve));
    this.#process.stdin?.write(`${JSON.stringify({ op, arguments: parameters })}\n`);
    const { value, error } = JSON.parse(await line) as { value: T; error?: string };
    if (error !== undefined) throw new Error(`${op}: ${error}`);
    return value;
  }

  execute(code: string, options: object = {}): Promise<Executed> {
    return this.call<Executed>("execute", { code, ...options });
  }

  /** Ends the client at once, as a crash would: it tells its kernel nothing. */
  kill(): void {
    this.#process.kill("SIGKILL");
  }

  close(): void {
    this.#process.stdin?.end();
    this.#process.kill();
  }
}

/** The text of what a cell printed. */
export function printed({ iopub }: Executed, name = "stdout"): string {
  return iopub
    .filter((message) => message.type === "stream" && message.content["name"] === name)
    .map((message) => message.content["text"] as string)
    .join("");
}

/** The plain text of a cell's result. */
export function resultText({ iopub }: Executed): string | undefined {
  const result = iopub.find((message) => message.type === "execute_result");
  return (result?.content["data"] as Record<string, string> | undefined)?.["text/plain"];
}

/** The types of what was published, without the changes of status. */
export function publishedTypes({ iopub }: Executed): string[] {
  return iopub.filter(({ type }) => type !== "status").map(({ type }) => type);
}

/** A traceback as text. */
export function tracebackText(content: Record<string, unknown>): string {
  return (content["traceback"] as string[]).map(stripVTControlCharacters).join("\n");
}
