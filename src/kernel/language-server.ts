import { spawn, type ChildProcessByStdio } from "node:child_process";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, parse, relative } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ProbelabError } from "../base/error.js";
import { isHeadless, ownPackage } from "./kernelspec.js";

/** The part of a text from `start` to `end`; lines and characters (UTF-16) count from 0. */
export interface Range {
  readonly start: Position;
  readonly end: Position;
}
export interface Position {
  readonly line: number;
  readonly character: number;
}

/** What TypeScript says of a text. */
export interface Diagnostic {
  readonly range: Range;
  /** 1 is an error. */
  readonly severity?: number;
  readonly code: number;
  readonly message: string;
  readonly relatedInformation?: readonly {
    readonly message: string;
    readonly location: { readonly range: Range };
  }[];
}

export interface CompletionItem {
  readonly label: string;
  readonly kind?: number;
  readonly sortText?: string;
  readonly textEdit?: { readonly range?: Range; readonly replace?: Range };
}

/** The server's process ended before it had answered, was too late, or answered what can't be read. */
export class ServerEnded extends Error {
  readonly remedy: string;

  /** @param isLate it was ended because it took too long @param isUsual false where it never answered */
  constructor(
    message: string,
    readonly isLate = false,
    isUsual = true,
  ) {
    super(message);
    this.remedy = isUsual
      ? "split the cell into smaller statements"
      : `where that fails too, see what this prints: ${executable()} --version`;
  }
}

/** The language of cells: what Node 20 runs, and what the compiler turns into it. */
const options = {
  target: "es2023",
  module: "preserve",
  moduleResolution: "bundler",
  strict: false,
  experimentalDecorators: true,
  resolveJsonModule: true,
  allowJs: true,
  checkJs: true,
  lib: ["es2023", "esnext.disposable"],
  types: [],
  skipLibCheck: true,
  noEmit: true,
  libReplacement: false,
};

/** Cells are checked when they are run, and nothing is offered that another import would bring. */
const initializationOptions = { disablePushDiagnostics: true, logVerbosity: 0 };
const settings = { suggest: { autoImports: false } };

type Server = ChildProcessByStdio<Writable, Readable, null>;
interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly late: NodeJS.Timeout;
}

/** Bytes of a message of sense, and of what stands above it. */
const mostBytes = 500_000_000;
const mostHead = 10_000;

/** Time for an answer: no cell of sense takes a second. */
const patienceMilliseconds = 60_000;

/**
 * TypeScript's own language server, in a process beside this one, over texts that exist only as documents in it.
 *
 * Its project is a folder of ours that mirrors the notebook's, which may not be writable and which other kernels
 * work in: links to each `node_modules` above the notebook, and files beside it by `rootDirs`. What cells import
 * from there is opened as a document too, so that it is always as it is on disk.
 * Source: https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
 */
export class LanguageServer {
  readonly #mirror: string;
  /** The folder that the mirror stands for. */
  readonly #root: string;
  readonly #folder: string;
  readonly #documents = new Map<string, { text: string; version: number }>();
  readonly #waiting = new Map<number, Waiting>();
  #server: Server | undefined;
  #requests = 0;
  #hasAnswered = false;

  /** @param folder the notebook's */
  constructor(folder: string) {
    this.#mirror = join(tmpdir(), `probelab-cells-${randomUUID()}`);
    process.on("exit", () => {
      this.#server?.kill("SIGKILL");
      rmSync(this.#mirror, { recursive: true, force: true });
    });
    this.#folder = folder;
    this.#root = /^.*[\\/]node_modules(?=[\\/])/.exec(folder)?.[0] ?? parse(folder).root;
  }

  /** Writes the mirror, also where somebody cleaned the folder of temporary files. */
  #write(): void {
    const folder = this.#folder;
    const cells = this.pathOf("");
    mkdirSync(this.#mirror, { mode: 0o700 });
    mkdirSync(cells, { recursive: true });
    for (let above = folder; ; above = dirname(above)) {
      const isPackages = above === this.#root && above !== dirname(above);
      const packages = isPackages ? above : join(above, "node_modules");
      symlinkSync(packages, join(this.mirrored(above), "node_modules"), "junction");
      if (above === this.#root) break;
    }
    const { root } = ownPackage();
    const config = {
      compilerOptions: {
        ...options,
        rootDirs: [this.#mirror, this.#root],
        paths: {
          // The kernel itself provides it.
          tslab: [join(root, "dist", "kernel", "tslab.d.ts")],
          ...(found("probelab", folder) === undefined && {
            probelab: [join(root, "dist", "index.d.ts")],
          }),
        },
      },
      include: ["*.ts"],
      files: [
        join(
          found("@types/node", folder) ?? found("@types/node", fileURLToPath(import.meta.url))!,
          "index.d.ts",
        ),
        "columns.d.ts",
      ],
    };
    writeFileSync(join(cells, "columns.d.ts"), "");
    writeFileSync(join(cells, "tsconfig.json"), JSON.stringify(config));
  }

  /** The path of a document in the notebook's folder, such as `cell-3.ts`. */
  pathOf(name: string): string {
    return this.mirrored(join(this.#folder, name));
  }

  /** The path of the document that stands for a file on disk. */
  mirrored(path: string): string {
    const inside = relative(this.#root, path);
    return inside.startsWith("..") ? path : join(this.#mirror, inside);
  }

  /** Starts the server if it doesn't run. */
  start(): Server {
    if (this.#server) return this.#server;
    if (!existsSync(join(this.pathOf(""), "tsconfig.json"))) {
      rmSync(this.#mirror, { recursive: true, force: true });
      try {
        this.#write();
      } catch (error) {
        rmSync(this.#mirror, { recursive: true, force: true });
        throw new ProbelabError(
          `Can't check cells: ${(error as Error).message}. TypeScript needs a folder for temporary files: make room in ${tmpdir()}, or set TMPDIR to another and restart the kernel.`,
          { cause: error },
        );
      }
    }
    this.#hasAnswered = false;
    // A group of its own: an interrupt is for the cell. That of a headless notebook is its own already.
    const server = spawn(executable(), ["--lsp", "--stdio"], {
      cwd: this.pathOf(""),
      stdio: ["pipe", "pipe", "ignore"],
      detached: process.platform !== "win32" && !isHeadless(),
    });
    const lost = () => this.#ended(server);
    server.on("error", lost).on("exit", lost);
    server.stdin.on("error", lost);
    server.stdout.on("close", lost);
    this.#server = server;
    this.#listen(server);
    // It doesn't hold the kernel, which waits for it only while it asks.
    server.unref();
    for (const stream of [server.stdin, server.stdout])
      (stream as unknown as { unref?(): void }).unref?.();
    const capabilities = {
      workspace: { configuration: true },
      textDocument: {
        diagnostic: { relatedInformation: true },
        hover: { contentFormat: ["markdown"] },
        completion: {
          completionItem: { insertReplaceSupport: true },
          completionList: { itemDefaults: ["editRange"] },
        },
        signatureHelp: {},
      },
    };
    const rootUri = pathToFileURL(this.pathOf("")).href;
    const own = { processId: process.pid, rootUri, capabilities, initializationOptions };
    void this.request("initialize", own).catch(() => undefined);
    this.#notify("initialized", {});
    for (const [path, { text }] of this.#documents) this.#open(path, text, 1);
    return server;
  }

  /** Ends the server, and with it what it works on; the next request starts another. @param why for who waits */
  stop(why?: Error): void {
    if (this.#server) this.#ended(this.#server, why);
  }

  /** Sets the text of a document, opening it if need be. */
  setText(path: string, text: string): void {
    const known = this.#documents.get(path);
    if (known?.text === text) return;
    const version = (known?.version ?? 0) + 1;
    this.#documents.set(path, { text, version });
    if (!this.#server) return;
    if (!known) return this.#open(path, text, version);
    this.#notify("textDocument/didChange", {
      textDocument: { uri: pathToFileURL(path).href, version },
      contentChanges: [{ text }],
    });
  }

  close(path: string): void {
    if (!this.#documents.delete(path) || !this.#server) return;
    this.#notify("textDocument/didClose", { textDocument: { uri: pathToFileURL(path).href } });
  }

  /** Tells the server that packages were installed. */
  packagesChanged(names: readonly string[]): void {
    const changes = names.flatMap((name) => {
      const path = join("node_modules", name, "package.json");
      return [this.pathOf(path), join(this.#folder, path)].map((each) => ({
        uri: pathToFileURL(each).href,
        type: 1,
      }));
    });
    this.#notify("workspace/didChangeWatchedFiles", { changes });
  }

  async diagnostics(path: string): Promise<readonly Diagnostic[]> {
    const { items } = Object(await this.#ask("diagnostic", path)) as { items?: unknown };
    // No answer is no all-clear.
    if (!Array.isArray(items) || !items.every(isDiagnostic)) {
      throw new ServerEnded("TypeScript's language server gave no diagnostics");
    }
    return items.filter(({ severity = 1 }) => severity === 1);
  }

  /** Completions at a position, and the part of the text that they replace where they don't say so themselves. */
  async completions(
    path: string,
    position: Position,
  ): Promise<{ items: readonly CompletionItem[]; range: Range | undefined }> {
    type Answer = { items?: unknown; itemDefaults?: { editRange?: Range & { replace?: Range } } };
    const answer = Object(await this.#ask("completion", path, position)) as Answer;
    const items = Array.isArray(answer.items) ? answer.items.filter(isCompletion) : [];
    const own = items.map(({ textEdit }) => textEdit?.replace ?? textEdit?.range).find(isRange);
    const shared = [answer.itemDefaults?.editRange?.replace, answer.itemDefaults?.editRange];
    return { items, range: shared.find(isRange) ?? own };
  }

  /** Signature and documentation at a position in Markdown; those of the call there where there is no name. */
  async hover(path: string, position: Position): Promise<string | undefined> {
    type Hover = { contents?: { value?: unknown } } | null;
    const hover = (await this.#ask("hover", path, position)) as Hover;
    const shown = textIn(hover?.contents?.value);
    if (shown !== "") return shown;
    type Signature = { label?: unknown; documentation?: string | { value?: unknown } | null };
    type Help = { signatures?: (Signature | null)[]; activeSignature?: number } | null;
    const help = (await this.#ask("signatureHelp", path, position)) as Help;
    const { label, documentation } = help?.signatures?.[help.activeSignature ?? 0] ?? {};
    if (textIn(label) === "") return undefined;
    const text = textIn(typeof documentation === "object" ? documentation?.value : documentation);
    return `\`\`\`typescript\n${textIn(label)}\n\`\`\`\n${text}`;
  }

  #ask(method: string, path: string, position?: Position): Promise<unknown> {
    return this.request(`textDocument/${method}`, {
      textDocument: { uri: pathToFileURL(path).href },
      ...(position && { position }),
    });
  }

  /** @throws ServerEnded where the server ends before it answers */
  request(method: string, params: object): Promise<unknown> {
    const server = this.start();
    const id = ++this.#requests;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.stop(new ServerEnded("TypeScript's language server took too long", true));
      }, patienceMilliseconds);
      this.#waiting.set(id, { resolve, reject, late });
      this.#hold(server);
      this.#send({ id, method, params });
    });
  }

  #notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  #open(path: string, text: string, version: number): void {
    mkdirSync(dirname(path), { recursive: true });
    const languageId = /\.[cm]?js$/.test(path)
      ? "javascript"
      : path.endsWith(".json")
        ? "json"
        : "typescript";
    this.#notify("textDocument/didOpen", {
      textDocument: { uri: pathToFileURL(path).href, languageId, version, text },
    });
  }

  #send(message: object): void {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.#server?.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  #listen(server: Server): void {
    let held: Buffer = Buffer.alloc(0);
    server.stdout.on("data", (data: Buffer) => {
      held = held.length === 0 ? data : Buffer.concat([held, data]);
      try {
        for (;;) {
          const head = held.indexOf("\r\n\r\n");
          if (head < 0 && held.length < mostHead) return;
          const [, size] = /Content-Length: *(\d+)/i.exec(held.toString("latin1", 0, head)) ?? [];
          const end = head + 4 + Number(size);
          if (!(end < mostBytes)) throw new Error("It is no message.");
          if (held.length < end) return;
          this.#take(JSON.parse(held.toString("utf8", head + 4, end)) as Incoming);
          held = held.subarray(end);
        }
      } catch {
        this.#ended(server); // Nothing after it can be read.
      }
    });
  }

  #take({ id, method, params, result, error }: Incoming): void {
    if (method !== undefined) {
      // It asks for settings, and whether it may watch files.
      const items =
        method === "workspace/configuration" ? params?.items?.map(() => settings) : null;
      if (id !== undefined) this.#send({ id, result: items ?? null });
      return;
    }
    const waiting = this.#waiting.get(id ?? 0);
    this.#waiting.delete(id ?? 0);
    clearTimeout(waiting?.late);
    this.#hasAnswered = true;
    if (this.#server && this.#waiting.size === 0) this.#hold(this.#server);
    if (error) waiting?.reject(new ServerEnded(error.message));
    else waiting?.resolve(result);
  }

  /** The process lives while it waits for an answer, and not for the server itself. */
  #hold(server: Server): void {
    const stdout = server.stdout as unknown as { ref?(): void; unref?(): void };
    if (this.#waiting.size > 0) stdout.ref?.();
    else stdout.unref?.();
  }

  #ended(server: Server, why?: Error): void {
    if (this.#server !== server) return;
    server.kill("SIGKILL");
    this.#server = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject, late } of waiting) {
      clearTimeout(late);
      reject(
        why ?? new ServerEnded("TypeScript's language server ended", false, this.#hasAnswered),
      );
    }
  }
}

interface Incoming {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly items?: readonly unknown[] };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isRange(value: unknown): value is Range {
  const { start, end } = Object(value) as Partial<Range>;
  return [start, end].every((at) => isPlace(at?.line) && isPlace(at?.character));
}

/** True for a count of lines or characters. */
function isPlace(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isDiagnostic(value: unknown): value is Diagnostic {
  const { range, severity = 1, message, relatedInformation = [] } = Object(value) as Diagnostic;
  const isRelated = (each: unknown) => {
    type Related = { message?: unknown; location?: { range?: unknown } | null };
    const { message, location } = Object(each) as Related;
    return typeof message === "string" && isRange(location?.range);
  };
  return (
    isRange(range) &&
    typeof severity === "number" &&
    typeof message === "string" &&
    Array.isArray(relatedInformation) &&
    relatedInformation.every(isRelated)
  );
}

function isCompletion(value: unknown): value is CompletionItem {
  const { label, sortText = "" } = Object(value) as CompletionItem;
  return typeof label === "string" && typeof sortText === "string";
}

/** The folder of a package as it is found from another one. */
function found(name: string, from: string): string | undefined {
  try {
    const path = existsSync(from) && from.endsWith(".js") ? from : join(from, "cell.js");
    return dirname(createRequire(path).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/** The native compiler of this platform. @throws ProbelabError where it isn't installed */
function executable(): string {
  const native = createRequire(import.meta.url).resolve("typescript-native/package.json");
  const platform = `@typescript/typescript-${process.platform}-${process.arch}`;
  try {
    const folder = dirname(createRequire(native).resolve(`${platform}/package.json`));
    return join(folder, "lib", process.platform === "win32" ? "tsc.exe" : "tsc");
  } catch (error) {
    throw new ProbelabError(
      `Can't check cells: TypeScript's compiler for ${process.platform} on ${process.arch} is not installed. Install probelab anew without --omit=optional, or install ${platform}.`,
      { cause: error },
    );
  }
}
