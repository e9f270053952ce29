import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installKernel } from "../../src/notebook/kernel/kernelspec.js";
import { notebookFolder } from "../notebook/notebook-fixture.js";
import {
  JupyterClient,
  jupyterEnvironment,
  printed,
  publishedTypes,
  python,
  resultText,
  skipped,
  tracebackText,
  type Executed,
  type Published,
} from "./jupyter.js";

/** Starts a kernel before the tests of a describe and ends it after them. */
function kernelForTests(use: (client: JupyterClient, folder: string) => void): NodeJS.ProcessEnv {
  const environment = jupyterEnvironment();
  let client: JupyterClient;
  let folder: Awaited<ReturnType<typeof notebookFolder>>;
  beforeAll(async () => {
    folder = await notebookFolder();
    await installKernel({ kind: "user" }, environment);
    client = new JupyterClient(environment);
    use(client, folder.path);
    await client.call("start", { kernel: "probelab", cwd: folder.path });
  });
  afterAll(async () => {
    await client.call("shutdown");
    client.close();
    await folder.remove();
  });
  return environment;
}

describe.skipIf(python === undefined)(`the kernel under jupyter_client${skipped}`, () => {
  let client: JupyterClient;
  kernelForTests((started) => (client = started));

  test("a cell publishes execute_input, streams, and its value as execute_result", async () => {
    const cell = await client.execute("console.log('one'); console.error('two'); 6 * 7");
    expect(publishedTypes(cell)).toEqual(["execute_input", "stream", "stream", "execute_result"]);
    const count = cell.reply["execution_count"];
    expect(cell.reply).toMatchObject({ status: "ok", user_expressions: {} });
    expect(cell.iopub.find(({ type }) => type === "execute_input")?.content).toEqual({
      code: "console.log('one'); console.error('two'); 6 * 7",
      execution_count: count,
    });
    expect(cell.iopub.find(({ type }) => type === "execute_result")?.content).toEqual({
      data: { "text/plain": "42" },
      metadata: {},
      execution_count: count,
    });
    const next = await client.execute("1");
    expect(next.reply["execution_count"]).toBe(Number(count) + 1);
  });

  test("an error has name, message and a traceback in the cell's own lines, on iopub and in the reply", async () => {
    const cell = await client.execute("const n = 1;\nthrow new RangeError('too far');");
    const error = cell.iopub.find(({ type }) => type === "error")?.content ?? {};
    expect(error).toMatchObject({ ename: "RangeError", evalue: "too far" });
    expect(tracebackText(error)).toMatch(
      /^RangeError: too far\n {4}at cell \d+, line 2\n {6}1 \| const n = 1;\n {4}> 2 \| throw/,
    );
    expect(cell.reply).toMatchObject({ status: "error", ename: "RangeError", evalue: "too far" });
    expect(resultText(await client.execute("n"))).toBe("1");
  });

  test("a cell that runs again has its own number in a traceback, and is judged by what is declared then", async () => {
    const failed = async (code: string) => {
      const { reply } = await client.execute(code);
      return { text: tracebackText(reply), cell: String(reply["execution_count"]) };
    };
    await client.execute("let turns = 0;");
    const again = "const next: number = turns++;\nif (next === 2) throw new Error('third');\nnext";
    for (const turn of ["0", "1"]) expect(resultText(await client.execute(again))).toBe(turn);
    const third = await failed(again);
    expect(third.text).toContain(`Error: third\n    at cell ${third.cell}, line 2`);
    await client.execute("let turns = 'none';");
    expect((await failed(again)).text).toContain("An arithmetic operand must be of type");
  });

  test("what waits behind a failed cell is aborted, what comes later runs", async () => {
    const ids = await Promise.all(
      ["await new Promise(r => setTimeout(r, 300)); throw new Error('stop')", "1", "2"].map(
        (code) => client.call<string>("send", { code }),
      ),
    );
    const statuses: unknown[] = [];
    for (const message of ids) {
      const cell = await client.call<Executed>("collect", { message });
      statuses.push(cell.reply["status"]);
    }
    expect(statuses).toEqual(["error", "aborted", "aborted"]);
    expect(resultText(await client.execute("3"))).toBe("3");
  });

  test("stop_on_error: false lets the waiting cells run", async () => {
    const first = await client.call<string>("send", {
      code: "await new Promise(r => setTimeout(r, 200)); throw new Error('go on')",
      stop_on_error: false,
    });
    const second = await client.call<string>("send", { code: "'ran'" });
    await client.call("collect", { message: first });
    const cell = await client.call<Executed>("collect", { message: second });
    expect(cell.reply["status"]).toBe("ok");
  });

  test("a silent request publishes nothing and doesn't count", async () => {
    const before = (await client.execute("0")).reply["execution_count"];
    const cell = await client.execute("console.log('quiet'); 5", { silent: true });
    expect(publishedTypes(cell)).toEqual([]);
    expect((await client.execute("0")).reply["execution_count"]).toBe(Number(before) + 1);
  });

  test("output of a cell that has ended still goes to its own cell", async () => {
    const first = await client.call<string>("send", {
      code: "setTimeout(() => console.log('late'), 300); void 0",
    });
    await client.call("collect", { message: first });
    const second = await client.execute(
      "await new Promise(r => setTimeout(r, 600)); console.log('own')",
    );
    expect(printed(second)).toBe("own\n");
  });

  test("completion knows types of earlier cells and of probelab, also after characters beyond the basic plane", async () => {
    await client.execute("import { last, between } from 'probelab';\nconst range = last('1 day');");
    const member = await client.call<Published>("request", {
      type: "complete_request",
      content: { code: "'😀'; range.ti", cursor_pos: 13 },
    });
    expect(member.content).toMatchObject({
      status: "ok",
      matches: ["timeZone"],
      cursor_start: 11,
      cursor_end: 13,
    });
    const name = await client.call<Published>("request", {
      type: "complete_request",
      content: { code: "betw", cursor_pos: 4 },
    });
    expect(name.content["matches"]).toContain("between");
  });

  test("inspection shows the signature and the doc comment of probelab's functions", async () => {
    const info = await client.call<Published>("request", {
      type: "inspect_request",
      content: { code: "import { last } from 'probelab';\nlast", cursor_pos: 35, detail_level: 0 },
    });
    const text = (info.content["data"] as Record<string, string>)["text/plain"];
    expect(text).toContain("last(");
    expect(text).toContain("TimeRange");
    expect(text).toContain("@example");
  });

  test("is_complete tells a finished cell from an open one", async () => {
    const ask = async (code: string) =>
      (await client.call<Published>("request", { type: "is_complete_request", content: { code } }))
        .content;
    expect(await ask("const a = 1;")).toEqual({ status: "complete" });
    expect(await ask("function f() {")).toEqual({ status: "incomplete", indent: "  " });
  });

  test("kernel_info answers on both channels", async () => {
    for (const channel of ["shell", "control"]) {
      const info = await client.call<Published>("request", {
        type: "kernel_info_request",
        content: {},
        channel,
      });
      expect(info.content).toMatchObject({
        status: "ok",
        implementation: "probelab",
        protocol_version: "5.3",
        language_info: { name: "typescript", file_extension: ".ts" },
      });
    }
  });

  test("history, comm_info and comm_open are answered as the protocol asks", async () => {
    await client.execute("'for the history'");
    const history = await client.call<Published>("request", {
      type: "history_request",
      content: { hist_access_type: "tail", n: 1, output: false, raw: true },
    });
    expect((history.content["history"] as unknown[][])[0]?.[2]).toBe("'for the history'");
    const comms = await client.call<Published>("request", {
      type: "comm_info_request",
      content: {},
    });
    expect(comms).toMatchObject({ type: "comm_info_reply", content: { comms: {} } });
    const opened = await client.call<Published[]>("tell", {
      type: "comm_open",
      content: { comm_id: "x", target_name: "jupyter.widget", data: {} },
    });
    expect(opened.map(({ type }) => type)).toContain("comm_close");
    await client.call("tell", { type: "an_unknown_message", content: {} });
  });

  test("garbage and wrong signatures are dropped, the kernel goes on", async () => {
    await client.call("raw", { frames: ["garbage"] });
    await client.call("raw", { frames: ["<IDS|MSG>", "", "{", "}", "x", "y"] });
    await client.call("raw", { frames: [""], channel: "control" });
    await client.call("signed_wrongly", { code: "globalThis.forged = true" });
    const cell = await client.execute("'forged' in globalThis");
    expect(resultText(cell)).toBe("false");
  });

  test("two frontends each get their replies and both see the outputs", async () => {
    const second = await client.call<number>("new_client");
    const cell = await client.execute("console.log('to all'); 'mine'", { client: second });
    expect(resultText(cell)).toBe("'mine'");
    expect(printed(cell)).toBe("to all\n");
    expect(resultText(await client.execute("'first'"))).toBe("'first'");
  });

  test("100 MB of output arrive whole, in a few messages", async () => {
    const code =
      "for (let i = 0; i < 100_000; i++) console.log('x'.repeat(1023)); console.log('end');";
    const got = await client.call<{ length: number; messages: number; end: string }>(
      "execute_printed",
      { code },
    );
    expect(got).toMatchObject({ length: 100_000 * 1024 + 4, end: "x\nend\n" });
    expect(got.messages).toBeLessThan(2000);
  }, 180_000);

  test("unicode goes through: code, streams, results, errors", async () => {
    const cell = await client.execute("const größe = '🙂 ü \\u2028'; console.log(größe); größe");
    expect(printed(cell)).toBe("🙂 ü \u2028\n");
    const failed = await client.execute("throw new Error('für 🙂')");
    expect(failed.reply["evalue"]).toBe("für 🙂");
  });

  test("an error in the background is shown and the kernel goes on", async () => {
    const cell = await client.execute(
      "void Promise.reject(new Error('floating')); await new Promise(r => setTimeout(r, 50));",
    );
    expect(printed(cell, "stderr")).toContain("floating");
    expect(resultText(await client.execute("1"))).toBe("1");
  });

  test("the heartbeat beats", async () => {
    expect(await client.call("heartbeat")).toBe(true);
  });

  test("a cell that ends the process leaves a dead kernel, which restarts without its variables", async () => {
    await client.execute("const before = 1");
    await client.call("send", { code: "process.exit(3)" });
    let alive = true;
    for (let look = 0; look < 200 && alive; look++) {
      alive = await client.call<boolean>("is_alive");
      if (alive) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(alive).toBe(false);
    await client.call("restart");
    expect(resultText(await client.execute("1 + 1"))).toBe("2");
    const gone = await client.execute("before");
    expect(gone.reply["status"]).toBe("error");
  });
});

describe.skipIf(python === undefined)(`a kernel that a cell harms${skipped}`, () => {
  let client: JupyterClient;
  let folder: string;
  const environment = kernelForTests((started, path) => ([client, folder] = [started, path]));

  test("what a cell replaced in JavaScript itself is back for the next, and one sentence says so", async () => {
    await client.execute("let kept = 1; const world = globalThis as any;");
    for (const [code, name] of [
      ["(Array.prototype as any).map = null;", "Array.prototype.map"],
      ["(Promise as any).race = () => { throw 1; };", "Promise.race"],
      ["(Promise.prototype as any).then = undefined;", "Promise.prototype.then"],
      ["world.Promise = class {};", "Promise"],
      ["delete world.Map;", "Map"],
      ["(JSON as any).stringify = () => '';", "JSON.stringify"],
      ["(String.prototype as any).split = 1;", "String.prototype.split"],
      [
        "(Object as any).entries = null; (Object as any).assign = null;",
        "Object.assign and 1 more",
      ],
      ["(Array.prototype as any)[Symbol.iterator] = null;", "Array.prototype"],
      ["(RegExp.prototype as any).exec = () => null;", "RegExp.prototype.exec"],
      ["(Buffer as any).from = () => null;", "Buffer.from"],
      ["(Object.prototype as any).get = 'inherited';", "Object.prototype.get"],
      ["await null; (Function.prototype as any).call = null;", "Function.prototype.call"],
      ["world.process = undefined;", "process"],
      [
        "process.emit = Object.getPrototypeOf(process).emit; (EventTarget.prototype as any).addEventListener = 0;",
        "EventTarget.prototype",
      ],
    ] as const) {
      const cell = await client.execute(`${code} 1`);
      expect(printed(cell, "stderr"), code).toMatch(/^The cell replaced .*the original is back/m);
      expect(printed(cell, "stderr"), code).toContain(name);
      expect(resultText(await client.execute("[kept].map((one) => one + 1)")), code).toBe("[ 2 ]");
    }
  });

  test("what tests and packages replace stays replaced", async () => {
    const cell = await client.execute(
      "Date.now = () => 5; process.cwd = () => '/there'; (Array.prototype as any).own = () => 1; 1",
    );
    expect(printed(cell, "stderr")).toBe("");
    const after = await client.execute("[Date.now(), process.cwd(), ([] as any).own()]");
    expect(resultText(after)).toBe("[ 5, '/there', 1 ]");
  });

  test.each([
    "const turn = (): Promise<void> => Promise.resolve().then(turn); await turn();",
    "await null; (await import('node:child_process')).execSync('sleep 20');",
    "await null; for (const text = 'a'.repeat(60) + 'b'; ; ) /^(a+)+$/.test(text);",
  ])("Jupyter's SIGTERM after an unread shutdown request ends it: %s", async (code) => {
    const own = new JupyterClient(environment);
    await own.call("start", { kernel: "probelab", cwd: folder });
    const message = await own.call("send", { code: `console.log("begun"); ${code}` });
    await own.call("wait_for_text", { message, text: "begun" });
    await own.call("terminate");
    while (await own.call<boolean>("is_alive")) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    own.close();
  });
});
