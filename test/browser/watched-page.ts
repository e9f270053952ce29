import { build } from "esbuild";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from "playwright-core";
import { browserPath } from "./frontend.js";

/** True if a browser is here, and what to add to the name of tests that are skipped without. */
export const browserMissing = browserPath === undefined;
export const missingNote = browserMissing ? " (skipped: Chromium is missing)" : "";

/** A page and what it did that a document shouldn't: requests, messages, errors, dialogs, windows. */
export interface WatchedPage {
  readonly page: Page;
  /** Everything since the page was opened; the document's own request is left out. */
  readonly seen: readonly string[];
  /** Lets the page ask for one more file, once. */
  readonly allow: (path: string) => void;
}

/** A browser without a network that opens documents from files and watches what they do. */
export class WatchingBrowser {
  readonly #browser: Browser;
  readonly #folder: string;
  #contexts: BrowserContext[] = [];
  #files = 0;

  private constructor(browser: Browser, folder: string) {
    this.#browser = browser;
    this.#folder = folder;
  }

  static async start(): Promise<WatchingBrowser> {
    const browser = await chromium.launch({
      ...(browserPath === undefined ? {} : { executablePath: browserPath }),
      args: ["--no-sandbox", "--disable-gpu"],
    });
    return new WatchingBrowser(browser, await mkdtemp(join(tmpdir(), "probelab-browser-")));
  }

  /** Where `open` writes documents, and a test may save its own. */
  get folder(): string {
    return this.#folder;
  }

  /** Writes a document to a file and opens it. @param name its extension says what it is. */
  async open(
    document: string,
    name = "page.html",
    options: BrowserContextOptions = {},
  ): Promise<WatchedPage> {
    return this.openFile(await this.#write(document, name), options);
  }

  async #write(document: string, name: string): Promise<string> {
    const path = join(this.#folder, `${this.#files++}-${name}`);
    await writeFile(path, document);
    return path;
  }

  async openFile(path: string, options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const own = pathToFileURL(path).href;
    const unasked = new Set([own]);
    const allowed = new Set([own]);
    const context = await this.#browser.newContext({
      viewport: { width: 1400, height: 900 },
      offline: true,
      ...options,
    });
    context.setDefaultTimeout(120_000);
    this.#contexts.push(context);
    const seen: string[] = [];
    const saw = (what: string): void => void seen.push(what.slice(0, 300));
    context.on("request", (request) => {
      const url = request.url();
      if (!unasked.delete(url) && !/^data:(image|font)\//.test(url)) saw(`request: ${url}`);
    });
    context.on("requestfailed", (request) => {
      // What the policy of a page stops never leaves the browser.
      const at = seen.lastIndexOf(`request: ${request.url()}`.slice(0, 300));
      if (request.failure()?.errorText === "csp" && at >= 0) seen[at] = "stopped by the policy";
    });
    context.on("console", (message) => saw(`console: ${message.text()}`));
    context.on("weberror", (error) => saw(`error: ${error.error().message}`));
    context.on("dialog", (dialog) => {
      saw(`dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => undefined);
    });
    const page = await context.newPage();
    context.on("page", () => saw("window opened"));
    page.on("framenavigated", (frame) => {
      if (!allowed.has(frame.url())) saw(`navigation: ${frame.url()}`);
    });
    page.on("frameattached", () => saw("frame attached"));
    page.on("download", () => saw("download"));
    page.on("worker", () => saw("worker"));
    await page.goto(own);
    const allow = (another: string): void => {
      allowed.add(pathToFileURL(another).href);
      unasked.add(pathToFileURL(another).href);
    };
    return { page, seen, allow };
  }

  /** Opens documents one after the other in one page. @returns what any of them did. */
  async openEach(documents: readonly string[], name: string): Promise<readonly string[]> {
    const [first = "", ...others] = documents;
    const { page, seen, allow } = await this.open(first, name);
    for (const document of others) {
      const path = await this.#write(document, name);
      allow(path);
      await page.goto(pathToFileURL(path).href);
    }
    return seen;
  }

  /** Closes what was opened, which makes room for the next. */
  async clear(): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()));
    this.#contexts = [];
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Waits until the runtime has drawn every chart of a page. @returns the classes of the figures. */
export async function drawnFigures(page: Page): Promise<string[]> {
  await page.locator("html.probelab-drawn").waitFor({ state: "attached", timeout: 60_000 });
  return page.evaluate<string[]>(
    "[...document.querySelectorAll('figure.probelab-chart')].map((figure) => figure.className)",
  );
}

/** The script that draws charts as a notebook frontend does. */
export async function frontendRuntime(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("frontend-vega.ts", import.meta.url))],
    bundle: true,
    format: "iife",
    write: false,
    logLevel: "silent",
  });
  return (outputFiles[0]?.text ?? "").replaceAll("</script", "<\\/script");
}
