import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installKernel } from "../../src/kernel/kernelspec.js";
import { handMade, notebookFolder } from "../kernel/notebook-fixture.js";
import { JupyterClient, jupyterEnvironment, python, skipped, type Published } from "./jupyter.js";

interface Variable {
  readonly name: string;
  readonly value: string;
  readonly type: string;
  readonly variablesReference: number;
}

describe.skipIf(python === undefined)(`what frontends ask besides cells${skipped}`, () => {
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

  test.each([
    ["const n = 1;", { status: "complete" }],
    ["", { status: "complete" }],
    ["const wrong: number = 'text'", { status: "complete" }],
    ["for (const n of [1, 2]) {", { status: "incomplete", indent: "  " }],
    ["  call(1,\n    [2,\n", { status: "incomplete", indent: "    " }],
    ["const text = `one\ntwo", { status: "incomplete" }],
    ["/* a comment", { status: "incomplete" }],
    ["const a = ", { status: "incomplete" }],
    ["const = 1;", { status: "invalid" }],
    ["}", { status: "invalid" }],
  ])("is_complete_request of %j", async (code, answer) => {
    const { content } = await client.call<Published>("request", {
      type: "is_complete_request",
      content: { code },
    });
    expect(content).toMatchObject(answer);
  });

  test("user_expressions are values after the cell, or their errors", async () => {
    const cell = await client.execute("const hours = 24;", {
      user_expressions: { days: "hours / 24", wrong: "hours.days", thrown: "null!.x" },
    });
    expect(cell.reply).toMatchObject({
      status: "ok",
      user_expressions: {
        days: { status: "ok", data: { "text/plain": "1" }, metadata: {} },
        wrong: { status: "error", ename: "TypeScriptError" },
        thrown: { status: "error", ename: expect.stringMatching(/Error$/) as string },
      },
    });
  });

  let seq = 0;
  async function debug<T>(command: string, given: object = {}): Promise<T> {
    const content = { type: "request", seq: ++seq, command, arguments: given };
    const reply = await client.call<Published>("request", {
      type: "debug_request",
      channel: "control",
      content,
    });
    expect(reply.type).toBe("debug_reply");
    expect(reply.content).toMatchObject({ type: "response", request_seq: seq, command });
    return reply.content as T;
  }
  const variables = async () =>
    (await debug<{ body: { variables: Variable[] } }>("inspectVariables")).body.variables;

  test("a Variables view attaches, shows the variables of cells, opens them and renders a Result", async () => {
    const info = await client.call<Published>("request", {
      type: "kernel_info_request",
      content: {},
    });
    expect(info.content).toMatchObject({ debugger: true, supported_features: ["debugger"] });
    expect(await debug("debugInfo")).toMatchObject({ body: { isStarted: false } });
    for (const command of ["initialize", "attach", "configurationDone"]) {
      expect(await debug(command)).toMatchObject({ success: true });
    }
    expect(await debug("debugInfo")).toMatchObject({
      body: { isStarted: true, richRendering: true, breakpoints: [], stoppedThreads: [] },
    });
    expect(await debug("modules")).toMatchObject({ success: true, body: { modules: [] } });
    expect((await client.execute(handMade)).reply["status"]).toBe("ok");
    await client.execute(
      `const nested = { of: { deep: [1, 2] }, get never(): number { throw new Error("read"); } };
       const revoked = Proxy.revocable({}, {}); revoked.revoke(); const odd = revoked.proxy;
       process.env.SOME_PASSWORD = "Zq-view-5ecret"; function twice() {} `,
    );
    const shown = await variables();
    const named = new Map(shown.map((one) => [one.name, one]));
    expect(named.has("twice")).toBe(false);
    expect(named.has("chart")).toBe(false);
    expect(named.get("hours")).toMatchObject({
      type: "float",
      value: "24",
      variablesReference: 0,
    });
    expect(named.get("result")).toMatchObject({ type: "Result" });
    expect(named.get("odd")).toMatchObject({ variablesReference: 0 });
    expect(named.get("nested")?.value).toContain("deep");
    const { body } = await debug<{ body: { variables: Variable[] } }>("variables", {
      variablesReference: named.get("nested")?.variablesReference,
    });
    expect(body.variables.map(({ name }) => name)).toEqual(["of"]);
    const rich = await debug<{ body: { data: Record<string, string> } }>("richInspectVariables", {
      variableName: "result",
    });
    expect(rich.body.data["text/html"]).toContain("<table");
    expect(await debug("richInspectVariables", { variableName: "nothing" })).toMatchObject({
      success: false,
      message: "Can't show nothing: no cell that has run declares it.",
    });
    expect(await debug("stepIn")).toMatchObject({ success: false });
    expect(await debug("disconnect")).toMatchObject({ success: true });
  });

  test("a Variables view shows no password", async () => {
    await client.execute(`import { connect } from "probelab";
      await connect({ measurements: "http://ann:Zq-view-5ecret@127.0.0.1:1/db" }).catch(() => 1);
      const hidden = { address: "Zq-view-5ecret" };`);
    expect(JSON.stringify(await variables())).not.toContain("5ecret");
    const rich = await debug("richInspectVariables", { variableName: "hidden" });
    expect(JSON.stringify(rich)).not.toContain("5ecret");
  });
});
