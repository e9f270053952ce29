import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installKernel } from "../../src/kernel/kernelspec.js";
import { notebookFolder } from "../kernel/notebook-fixture.js";
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

describe.skipIf(python === undefined)(`the kernel under jupyter_client${skipped}`, () => {
  const environment = jupyterEnvironment();
  let client: JupyterClient;
  let folder: Awaited<ReturnType<typeof notebookFolder>>;
  beforeAll(async () => {
    folder = await notebookFolder();
    await installKernel(environment);
    client = new JupyterClient(environment);
    await client.call("start", { kernel: "probelab", cwd: folder.path });
  });
  afterAll(async () => {
    await client.call("shutdown");
    client.close();
    await folder.remove();
  });

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

  test("a chart has a PNG, unless JupyterLab asks, which adds its own to the notebook", async () => {
    const code = `import { chart, show } from "probelab";
const one = chart.line([{ t: new Date(0), n: 1 }, { t: new Date(9), n: 2 }], { x: "t", y: "n" });
await show(one);
one`;
    const types = async (options: object) =>
      (await client.execute(code, options)).iopub.flatMap(({ content }) =>
        content["data"] ? [Object.keys(content["data"])] : [],
      );
    const lab = ["application/vnd.vegalite.v5+json", "text/plain"];
    expect(await types({ metadata: { deletedCells: [], cellId: "a" } })).toEqual([lab, lab]);
    const others = [lab[0], "image/png", lab[1]];
    expect(await types({})).toEqual([others, others]);
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
    const stack = `"    at " + "a (".repeat(200_000)`;
    const odd = await client.execute(`throw Object.assign(new Error("odd"), { stack: ${stack} });`);
    expect(odd.reply["evalue"]).toBe("odd");
    const long = await client.execute(`"${"x".repeat(100_000)}"; throw new Error("far");`);
    expect(tracebackText(long.reply)).toMatch(/; throw new Error\("far"\);\n.*\^/);
    const many = await client.execute("nothing;\n".repeat(500));
    expect(many.reply["evalue"]).toContain("(and 499 more)");
    expect(tracebackText(many.reply)).toMatch(/\n… and 480 more\.$/);
    for (const { reply } of [long, many]) expect(JSON.stringify(reply).length).toBeLessThan(10_000);
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
    const complete = async (code: string) => {
      const content = { code: code.replace("|", ""), cursor_pos: code.indexOf("|") };
      return (await client.call<Published>("request", { type: "complete_request", content }))
        .content;
    };
    expect((await complete("betw|"))["matches"]).toContain("between");
    await client.execute("const take = (unit: '6 hours' | '1 week') => unit;");
    await client.execute(`import { chart, connect, explain, table } from "probelab";
      declare const lab: Awaited<ReturnType<typeof connect>>;
      const rows = [{ day: 1, "odd name": 2 }];
      const ask = () => lab.measurements.counts({ range, every: "week", by: "probe_cc" });
      let weekly!: Awaited<ReturnType<typeof ask>>;`);
    const columns = ["measurements", "probe_cc", "t"];
    for (const [code, matches] of [
      [`chart.area(weekly, { y: "|" })`, columns],
      [`chart.bar(weekly, { x: "|" })`, columns],
      [`chart.line(weekly, { facet: "t", color: "|" })`, columns],
      [`chart.heatmap(weekly, { y: "|" })`, columns],
      [`chart.line(weekly, { y: { value: "|" } })`, columns],
      [`chart.line(weekly, { y: { label: "", | } })`, ["format", "type", "value", "zero"]],
      [`chart.dot(rows, { x: "o|" })`, ["odd name"]],
      [`table(weekly, { columns: ["|"] })`, columns],
      [`await lab.measurements.counts({ range, every: "6|" })`, ["6 hours"]],
      [`await lab.logs.rates({ range, every: "mont|" })`, ["month", "3 months"]],
      [
        `await explain(lab.runs, { before: range, after: range, dimensions: ["probe_c|"] })`,
        ["probe_cc"],
      ],
    ] as const) {
      expect(((await complete(code))["matches"] as string[]).toSorted(), code).toEqual(
        matches.toSorted(),
      );
    }
    expect(await complete(`take("6 ho|")`)).toMatchObject({
      matches: ["6 hours"],
      cursor_start: 6,
      cursor_end: 10,
    });
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

  test("comm_info, comm_open and unknown messages are answered as the protocol asks", async () => {
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

  test("30 MB of output: the first 20 MB arrive, one sentence says so, and the kernel stays small", async () => {
    const held = "Math.round(process.memoryUsage.rss() / 1e6)";
    const before = Number(resultText(await client.execute(held)));
    type Printed = { stdout: number; stderr: string; messages: number };
    for (const code of [
      `for (let i = 0; i < 30_000; i++) console.log("x".repeat(1023));`,
      `process.stdout.write("x".repeat(30_000_000));`,
    ]) {
      const got = await client.call<Printed>("execute_printed", { code });
      expect(got.stdout).toBeGreaterThan(19e6);
      expect(got.stdout).toBeLessThan(21e6);
      expect(got.stderr).toBe("\nPrinted more than 20 MB: the rest is left out.\n");
      expect(got.messages).toBeLessThan(500);
    }
    expect(Number(resultText(await client.execute(held))) - before).toBeLessThan(200);
    expect(printed(await client.execute("console.log('next')"))).toBe("next\n");
  }, 180_000);

  test("no password is shown, whole or in two pieces", async () => {
    const [first, second] = ["Zq-pieces", "-5ecret"];
    await client.execute(`import { connect, show } from "probelab";
      await connect({ measurements: "http://ann:${first}${second}@127.0.0.1:1/db" }).catch(() => 1);
      const put = (text: string) => void process.stdout.write(text);`);
    const cells = [
      `put("${first}${second}"); put("${first}"); put("${second} one Zq");`,
      `for (const letter of "${first}${second}") { put(letter); await new Promise((go) => setTimeout(go, 60)); }`,
      `await show("${first}${second}"); throw new Error("${first}${second}")`,
    ];
    const texts: string[] = [];
    for (const code of cells) texts.push(printed(await client.execute(code)));
    expect(texts).toEqual(["****** one Zq", "***", ""]);
    const { iopub } = await client.execute(cells[2]!);
    expect(JSON.stringify(iopub.slice(2))).not.toContain(second);
  });

  test("errors that TypeScript words badly begin with what to write", async () => {
    await client.execute(`import { chart, connect, count, last } from "probelab";
      type Lab = Awaited<ReturnType<typeof connect>>; declare const lab: Lab; const range = last("1 week");`);
    for (const [code, hint] of [
      [
        `lab.measurements.counts({ range }).rows()`,
        "Did you forget await? This is a Promise, not yet its value. Property 'rows'",
      ],
      [
        `chart.line(lab.measurements.counts({ range }))`,
        "Did you forget await? This is a Promise, not yet its value. Argument of",
      ],
      [`for (const row of lab.measurements.counts({ range })) row`, "Did you forget await?"],
      [`const two = Promise.resolve(1); two + 1`, "Did you forget await?"],
      [`await lab.measurements.counts({ range: "3 months" })`, `Write range: last("3 months"), or`],
      [
        `const span = "1 day"; await lab.runs.counts({ range: span })`,
        "Write range: last(span), or",
      ],
      // These say all: TypeScript's own words are left out.
      [
        `await lab.runs.summary({ by: "software_version" })`,
        'The range is missing: write { range: last("3 months", { now: lab.now }), … }. TS',
      ],
      [
        `await lab.query("SELECT 1")`,
        'The range is missing: write lab.query("SELECT … WHERE {range}", { range: last("3 months", { now: lab.now }) }). TS',
      ],
      [
        `chart.scatter([{ a: 1 }])`,
        "There is no chart.scatter. The charts are line, area, bar, dot, dotPlot, heatmap and histogram; chart.vegaLite draws any other. TS",
      ],
      [
        `(await lab.runs.counts({ range })).column("run")`,
        "There is no column run: result.columnNames() lists them. ",
      ],
      [
        `await lab.runs.counts({ range, groupBy: "probe_cc" })`,
        "Write by: there is no option groupBy. Object literal",
      ],
      [
        `await lab.logs.rates({ range, interval: "day" })`,
        "Write every: there is no option interval. ",
      ],
      [`chart.bar([{ a: 1 }], { colour: "a" })`, "Write color: there is no option colour. "],
      [
        `await lab.measurements.counts({ range, where: "probe_cc = 'IT'" })`,
        'Write columns and their values, where: { probe_cc: "IT" }; ',
      ],
      [
        `await lab.measurements.counts({ range, where: { probe_cc: { like: "I%" } } })`,
        'There is no like: write prefix("…"), ',
      ],
      [
        `await lab.measurements.ask({ range, measures: count() })`,
        "Name it: measures: { count: … }. TS",
      ],
      [`df = 3`, "Declare it: const df = …. "],
      [`import pandas`, 'This is Python. Write import * as name from "pandas". TS'],
      [`import numpy as np`, 'This is Python. Write import * as name from "numpy". TS'],
      [
        `chart.line(await lab.runs.counts({ range }), { y: "run" })`,
        `Type '"run"' is not assignable`,
      ],
      [
        `await lab.measurements.counts({ range, evry: "day" })`,
        "Object literal may only specify known properties, but 'evry'",
      ],
    ]) {
      const { reply } = await client.execute(code ?? "");
      expect(reply, code).toMatchObject({ status: "error", ename: "TypeScriptError" });
      expect(reply["evalue"], code).toContain(hint);
    }
    const { reply } = await client.execute(
      "const week = lab.measurements.counts({ range }).rows()",
    );
    expect(tracebackText(reply)).toMatch(
      /^TypeScriptError: Did you forget await\? .* TS2339\n {4}Property 'rows' does not exist on type 'Promise<.*\n {4}at cell \d+, line 1\n/,
    );
  });

  test("parts of a package that a cell takes have their types in the next, in any order of imports", async () => {
    for (const code of [
      `import { connect } from "probelab";`,
      `import * as aq from "arquero";`,
      `const { op, escape } = aq; const grouped = aq.from([{ n: 1 }, { n: 2 }]).groupby("n");`,
    ]) {
      expect((await client.execute(code)).reply["status"], code).toBe("ok");
    }
    const cell = await client.execute(
      `import { table } from "arquero"; table({ n: [1, 2] }).rollup({ sum: (d: { n: number }) => op.sum(d.n) }).get("sum")`,
    );
    expect(resultText(cell)).toBe("3");
    expect((await client.execute("op.nothing(1)")).reply["evalue"]).toMatch(
      /'nothing' does not exist/,
    );
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
