import { spawn, type ChildProcessByStdio } from "node:child_process";
import { mkdirSync } from "node:fs";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import type { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type MessageConnection,
} from "vscode-jsonrpc/node";
import type { Position } from "./edited-text.js";
import { isHeadless } from "./kernelspec.js";
import { compilerPath, Mirror } from "./mirror.js";

/** The part of a text from `start` to `end`; lines and characters (UTF-16) count from 0. */
export interface Range {
  readonly start: Position;
  readonly end: Position;
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

/** The server's process ended before it had answered, or was too late. */
export class ServerEnded extends Error {
  /** @param isLate it was ended because it took too long */
  constructor(
    message: string,
    readonly isLate = false,
  ) {
    super(message);
  }
}

/** Cells are checked when they are run, and nothing is offered that another import would bring. */
const initializationOptions = { disablePushDiagnostics: true, logVerbosity: 0 };
const settings = { suggest: { autoImports: false } };

/** A process of the server. */
interface Server {
  readonly process: ChildProcessByStdio<Writable, Readable, null>;
  readonly connection: MessageConnection;
  /** Requests without an answer. */
  waiting: number;
  /** Why it was ended. */
  ended?: Error;
}

/** Time for an answer: no cell of sense takes a second. */
const answerMilliseconds = 60_000;

/**
 * TypeScript's own language server, in a process beside this one, over texts that exist only as documents in it.
 *
 * Its project is the notebook's mirror. What cells import from beside the notebook is opened as a document too,
 * so that it is always as it is on disk.
 * Source: https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
 */
export class LanguageServer {
  readonly #mirror: Mirror;
  readonly #documents = new Map<string, { text: string; version: number }>();
  #server: Server | undefined;

  /** @param folder the notebook's */
  constructor(folder: string) {
    this.#mirror = new Mirror(folder);
    process.on("exit", () => {
      this.#server?.process.kill("SIGKILL");
      this.#mirror.remove();
    });
  }

  /** The path of a document in the notebook's folder, such as `cell-3.ts`. */
  pathOf(name: string): string {
    return this.#mirror.pathOf(name);
  }

  /** The path of the document that stands for a file on disk. */
  mirrored(path: string): string {
    return this.#mirror.mirrored(path);
  }

  /** Starts the server if it doesn't run. */
  start(): Server {
    if (this.#server) return this.#server;
    this.#mirror.write();
    // A group of its own: an interrupt is for the cell. That of a headless notebook is its own already.
    const child = spawn(compilerPath(), ["--lsp", "--stdio"], {
      cwd: this.pathOf(""),
      stdio: ["pipe", "pipe", "ignore"],
      detached: process.platform !== "win32" && !isHeadless(),
    });
    const connection = createMessageConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    );
    const server: Server = { process: child, connection, waiting: 0 };
    const lost = () => this.#end(server, new ServerEnded("TypeScript's language server ended"));
    child.on("error", lost).on("exit", lost);
    child.stdin.on("error", lost);
    connection.onError(lost);
    connection.onClose(lost);
    connection.onRequest("workspace/configuration", ({ items }: { items: readonly unknown[] }) =>
      items.map(() => settings),
    );
    // It asks whether it may watch files.
    connection.onRequest(() => null);
    connection.listen();
    this.#server = server;
    // It doesn't hold the kernel, which waits for it only while it asks.
    child.unref();
    for (const stream of [child.stdin, child.stdout]) setHold(stream, false);
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
    const client = { processId: process.pid, rootUri, capabilities, initializationOptions };
    void this.#request("initialize", client).catch(() => undefined);
    this.#notify("initialized", {});
    for (const [path, { text }] of this.#documents) this.#open(path, text, 1);
    return server;
  }

  /** Ends the server, and with it what it works on; the next request starts another. @param why for who waits */
  stop(why = new Error("TypeScript's language server was ended")): void {
    if (this.#server) this.#end(this.#server, why);
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
    const places = names.flatMap((name) => this.#mirror.placesOf(name));
    const changes = places.map((path) => ({ uri: pathToFileURL(path).href, type: 1 }));
    this.#notify("workspace/didChangeWatchedFiles", { changes });
  }

  async diagnostics(path: string): Promise<readonly Diagnostic[]> {
    const { items } = (await this.#ask("diagnostic", path)) as { items: readonly Diagnostic[] };
    return items.filter(({ severity = 1 }) => severity === 1);
  }

  /** Completions at a position, and the part of the text that they replace where they don't say so themselves. */
  async completions(
    path: string,
    position: Position,
  ): Promise<{ items: readonly CompletionItem[]; range: Range | undefined }> {
    type Answer = {
      items: readonly CompletionItem[];
      itemDefaults?: { editRange?: Range | { replace: Range } };
    };
    const answer = (await this.#ask("completion", path, position)) as Answer | null;
    const { items = [], itemDefaults } = answer ?? {};
    const shared = itemDefaults?.editRange;
    const range = shared && "replace" in shared ? shared.replace : shared;
    const own = items.flatMap(({ textEdit }) => textEdit?.replace ?? textEdit?.range ?? []);
    return { items, range: range ?? own[0] };
  }

  /** Signature and documentation at a position in Markdown; those of the call there where there is no name. */
  async hover(path: string, position: Position): Promise<string | undefined> {
    type Hover = { contents: { value: string } } | null;
    const hover = (await this.#ask("hover", path, position)) as Hover;
    if (hover && hover.contents.value !== "") return hover.contents.value;
    type Signature = { label: string; documentation?: string | { value: string } };
    type Help = { signatures: Signature[]; activeSignature?: number } | null;
    const help = (await this.#ask("signatureHelp", path, position)) as Help;
    const signature = help?.signatures[help.activeSignature ?? 0];
    if (!signature) return undefined;
    const { label, documentation = "" } = signature;
    const text = typeof documentation === "string" ? documentation : documentation.value;
    return `\`\`\`typescript\n${label}\n\`\`\`\n${text}`;
  }

  #ask(method: string, path: string, position?: Position): Promise<unknown> {
    return this.#request(`textDocument/${method}`, {
      textDocument: { uri: pathToFileURL(path).href },
      ...(position && { position }),
    });
  }

  /** @throws ServerEnded where the server ends before it answers */
  async #request(method: string, params: object): Promise<unknown> {
    const server = this.start();
    const late = setTimeout(() => {
      this.stop(new ServerEnded("TypeScript's language server took too long", true));
    }, answerMilliseconds);
    // The process lives while it waits for an answer, and not for the server itself.
    if (server.waiting++ === 0) setHold(server.process.stdout, true);
    try {
      return await server.connection.sendRequest(method, params);
    } catch (error) {
      throw server.ended ?? new ServerEnded((error as Error).message);
    } finally {
      clearTimeout(late);
      if (--server.waiting === 0) setHold(server.process.stdout, false);
    }
  }

  #notify(method: string, params: object): void {
    // Where it can't be written, the server has ended.
    void this.#server?.connection.sendNotification(method, params).catch(() => undefined);
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

  #end(server: Server, why: Error): void {
    if (this.#server !== server) return;
    this.#server = undefined;
    server.ended = why;
    server.process.kill("SIGKILL");
    server.connection.dispose();
  }
}

/** Lets a pipe of a child keep this process alive, or not. */
function setHold(pipe: Readable | Writable, isHeld: boolean): void {
  // The type says stream, Node makes sockets of pipes.
  const socket = pipe as Socket;
  if (isHeld) socket.ref();
  else socket.unref();
}
