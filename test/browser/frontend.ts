import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { freePort } from "../support/restricted-server.js";

/** A way to open notebooks in a browser. */
export interface Frontend {
  readonly name: string;
  readonly python: string;
  readonly module: string;
  /** Path of a notebook's page on the server. */
  readonly page: (notebook: string) => string;
  readonly editor: string;
  readonly run: (page: Page) => Promise<void>;
  readonly save: (page: Page) => Promise<void>;
  readonly interrupt: (page: Page) => Promise<void>;
  readonly restart: (page: Page) => Promise<void>;
}

const lab = process.env["PROBELAB_TEST_LAB_PYTHON"] ?? "";
const classic = process.env["PROBELAB_TEST_PYTHON"] ?? "/usr/bin/python3";
export const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);

const choose = async (page: Page, menu: string, entry: string) => {
  const exactly = (text: string) => new RegExp(`^${text}$`);
  await page.locator(".lm-MenuBar-itemLabel", { hasText: exactly(menu) }).click();
  await page.locator(".lm-Menu-itemLabel", { hasText: exactly(entry) }).click();
};

const modern = (name: string, module: string, folder: string): Frontend => ({
  name,
  python: lab,
  module,
  page: (notebook) => `${folder}/${notebook}`,
  editor: ".jp-Notebook .jp-Cell",
  run: async (page) => {
    // A run that comes before the kernel is lost without a word, and JupyterLab may ask which kernel
    // it is to be before it has read that in the notebook: as a person would, answer, wait for the
    // kernel's name and press again only where no cell waits or runs ([*]).
    const named = page.locator(".jp-NotebookPanel-toolbar", { hasText: "TypeScript (probelab)" });
    const idle = page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]');
    const asked = page.locator(".jp-Dialog", { hasText: "Select Kernel" });
    const begun = page.locator(".jp-InputPrompt", { hasText: "[*]" });
    for (let press = 0; press < 4; press++) {
      await named.or(asked).first().waitFor({ timeout: 60_000 });
      // One question may follow another: each run that was pressed too early asks.
      while (await asked.count()) {
        const question = await asked.elementHandle();
        await asked.locator("select").selectOption({ label: "TypeScript (probelab)" });
        await asked.locator("button.jp-mod-accept").click();
        await question?.waitForElementState("hidden");
      }
      await idle.or(begun).first().waitFor({ timeout: 60_000 });
      if (!(await begun.count())) await choose(page, "Run", "Run All Cells");
      const first = begun.or(asked).first();
      await first.waitFor({ timeout: 20_000 }).catch(() => undefined);
      if ((await begun.count()) && !(await asked.count())) return;
    }
    throw new Error("The cells never began to run.");
  },
  save: (page) => page.keyboard.press("Control+s"),
  interrupt: (page) => choose(page, "Kernel", "Interrupt Kernel"),
  restart: async (page) => {
    await choose(page, "Kernel", "Restart Kernel…");
    await page.locator(".jp-Dialog button.jp-mod-accept").click();
  },
});

const all: readonly Frontend[] = [
  modern("JupyterLab 4", "jupyterlab", "lab/tree"),
  modern("Notebook 7", "notebook", "notebooks"),
  {
    name: "the classic Notebook",
    python: classic,
    module: "notebook",
    page: (notebook) => `notebooks/${notebook}`,
    editor: "#notebook-container .cell",
    run: async (page) => {
      // What is sent before the kernel answered is lost.
      await page.waitForFunction("Jupyter.notebook.kernel?.info_reply?.status === 'ok'");
      await page.evaluate("Jupyter.notebook.execute_all_cells()");
    },
    save: (page) => page.keyboard.press("Control+s"),
    interrupt: async (page) => {
      await page.evaluate("Jupyter.notebook.kernel.interrupt()");
    },
    restart: async (page) => {
      await page.evaluate(
        "Jupyter.notebook.kernel.info_reply = {}; Jupyter.notebook.kernel.restart()",
      );
    },
  },
];

/** Whether a frontend can be tested here. */
export function isThere({ python, module, name }: Frontend): boolean {
  if (python === "" || browserPath === undefined) return false;
  const version = name === "the classic Notebook" ? "'6'" : "'4', '7'";
  const check = `import ${module}, sys; sys.exit(not ${module}.__version__.startswith((${version},)))`;
  return spawnSync(python, ["-c", check]).status === 0;
}

export const frontends = all;

/** A frontend's server on loopback, and a browser that opens its notebooks. */
export class OpenFrontend {
  private constructor(
    private readonly frontend: Frontend,
    private readonly server: ChildProcess,
    private readonly browser: Browser,
    private readonly url: string,
  ) {}

  static async start(
    frontend: Frontend,
    folder: string,
    environment: NodeJS.ProcessEnv,
  ): Promise<OpenFrontend> {
    const runtime = environment["JUPYTER_RUNTIME_DIR"] ?? "";
    mkdirSync(runtime, { recursive: true });
    const application = frontend.name === "the classic Notebook" ? "NotebookApp" : "ServerApp";
    const server = spawn(
      frontend.python,
      [
        "-m",
        frontend.module,
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        `--${application}.token=test`,
        `--${application}.port=${await freePort()}`,
        ...(application === "ServerApp"
          ? [
              "--LabApp.news_url=None",
              "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            ]
          : []),
      ],
      { cwd: folder, env: environment, stdio: "ignore" },
    );
    const url = await serverUrl(runtime, server);
    const browser = await chromium.launch({
      ...(browserPath === undefined ? {} : { executablePath: browserPath }),
      args: ["--no-sandbox", "--disable-gpu"],
    });
    return new OpenFrontend(frontend, server, browser, url);
  }

  /** A notebook in a window of its own. */
  async open(notebook: string): Promise<Page> {
    const page = await this.browser.newPage({ viewport: { width: 1280, height: 900 } });
    // JupyterLab would open the notebooks of the test before as well.
    await page.goto(`${this.url}${this.frontend.page(notebook)}?token=test&reset`);
    await page.locator(this.frontend.editor).first().waitFor({ timeout: 60_000 });
    return page;
  }

  async close(): Promise<void> {
    await this.browser.close();
    const gone = new Promise((resolve) => this.server.once("exit", resolve));
    this.server.kill("SIGTERM");
    const killer = setTimeout(() => this.server.kill("SIGKILL"), 10_000);
    await gone;
    clearTimeout(killer);
  }
}

async function serverUrl(runtime: string, server: ChildProcess): Promise<string> {
  for (let attempt = 0; attempt < 300 && server.exitCode === null; attempt++) {
    // A server that was killed leaves its file.
    const names = ["jp", "nb"].map((kind) => `${kind}server-${server.pid}.json`);
    const file = readdirSync(runtime).find((name) => names.includes(name));
    if (file !== undefined) {
      const { url } = JSON.parse(readFileSync(join(runtime, file), "utf8")) as { url: string };
      return url;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error("The server did not start.");
}
