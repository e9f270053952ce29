import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installKernel } from "../../src/kernel/kernelspec.js";
import { notebookFolder } from "../kernel/notebook-fixture.js";
import {
  JupyterClient,
  jupyterEnvironment,
  printed,
  python,
  resultText,
  skipped,
  tracebackText,
  type Executed,
} from "./jupyter.js";

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Seeded, so that a failure can be looked at again. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Ids of processes whose command line or working folder names `text`. */
function processesOf(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        const command = readFileSync(join("/proc", name, "cmdline"), "utf8");
        return command.includes(text) && !command.includes("client.py");
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function until(condition: () => boolean | Promise<boolean>, seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Not so after ${seconds} s.`);
    await sleep(50);
  }
}

for (const message_interrupts of [false, true]) {
  const mode = message_interrupts ? "interrupt_mode: message" : "SIGINT";
  describe.skipIf(python === undefined)(`interrupt by ${mode}${skipped}`, () => {
    const environment = jupyterEnvironment();
    let client: JupyterClient;
    let folder: Awaited<ReturnType<typeof notebookFolder>>;
    let data: string;

    beforeAll(async () => {
      folder = await notebookFolder();
      data = join(folder.path, "data");
      await installKernel(environment);
      client = new JupyterClient(environment);
      await client.call("start", {
        kernel: "probelab",
        cwd: folder.path,
        env: { PROBELAB_MEASUREMENTS: `embedded:${data}` },
        message_interrupts,
      });
    });
    afterAll(async () => {
      await client.call("shutdown");
      client.close();
      await until(() => processesOf(data).length === 0, 20);
      await folder.remove();
    });

    /** Sends a cell, interrupts it when it has printed "begun", and gives how it ended. */
    async function interrupted(code: string, afterMilliseconds = 0): Promise<Executed> {
      const message = await client.call<string>("send", { code });
      await client.call("wait_for_text", { message, text: "begun" });
      await sleep(afterMilliseconds);
      await client.call("interrupt");
      return client.call<Executed>("collect", { message, timeout: 10 });
    }

    test("it ends an awaiting cell, stops its code and keeps its variables", async () => {
      const cell = await interrupted(
        `let ticks = 0;
         console.log("begun");
         for (;;) {
           await new Promise((resolve) => setTimeout(resolve, 10));
           ticks++;
         }`,
        100,
      );
      expect(cell.reply).toMatchObject({ status: "error", ename: "Interrupted" });
      const first = Number(resultText(await client.execute("ticks")));
      expect(first).toBeGreaterThan(0);
      await sleep(300);
      expect(Number(resultText(await client.execute("ticks")))).toBe(first);
    });

    test.each([
      "async function f() { return 1; } let sum = 0; for (;;) sum += await f();",
      "for (;;) { try { await null; } catch {} }",
      "for await (const one of (function* () { for (;;) yield 1; })()) void one;",
    ])("it ends code that awaits what is always there: %s", async (code) => {
      const cell = await interrupted(`console.log("begun"); ${code}`, 100);
      expect(cell.reply).toMatchObject({ status: "error", ename: "Interrupted" });
      expect(printed(await client.execute("console.log('fine')"))).toBe("fine\n");
    });

    test("an idle kernel takes no harm, and later cells run", async () => {
      const heard = join(folder.path, "heard");
      const listens = `process.once("SIGINT", () => require("node:fs").writeFileSync("heard", "")); 1`;
      expect(resultText(await client.execute(listens))).toBe("1");
      await client.call("interrupt");
      // A signal may come later than the next cell, and would be for that one then.
      if (!message_interrupts) await until(() => existsSync(heard), 20);
      expect(printed(await client.execute("console.log('fine')"))).toBe("fine\n");
    });

    test("an idle kernel ends what its cells left running", async () => {
      await client.execute(
        "let turns = 0; void (async () => { for (;;) { await 0; turns++; } })();",
      );
      const turns = async () => Number(resultText(await client.execute("turns")));
      expect(await turns()).toBeGreaterThan(0);
      const heard = join(folder.path, "heard-again");
      await client.execute(
        `process.once("SIGINT", () => require("node:fs").writeFileSync("heard-again", ""));`,
      );
      await client.call("interrupt");
      // A message that arrives after the next cell is for those before it; a signal would be for that cell.
      if (!message_interrupts) await until(() => existsSync(heard), 20);
      let before = -1;
      await until(async () => before === (before = await turns()), 20);
      expect(await turns()).toBe(before);
    });

    // The rest ends the same way, or only by a signal.
    if (message_interrupts) return;

    test("a clean-up that awaits runs to its end", async () => {
      await interrupted(
        `let closed = false;
         await null; // What comes before the first await has no clean-up.
         try {
           console.log("begun");
           await new Promise(() => {});
         } finally {
           await new Promise((resolve) => setTimeout(resolve, 50));
           closed = true;
         }`,
      );
      expect(resultText(await client.execute("closed"))).toBe("true");
    });

    test("it ends a synchronous loop also where it comes while the cell is compiled", async () => {
      for (let round = 0; round < 4; round++) {
        const message = await client.call<string>("send", {
          code: `let q = 0; for (;;) q += ${round};`,
        });
        await client.call("wait_for_busy", { message });
        await sleep(round);
        await client.call("interrupt");
        const cell = await client.call<Executed>("collect", { message, timeout: 10 });
        expect(cell.reply).toMatchObject({ status: "error", ename: "Interrupted" });
      }
    });

    test("it ends a cell's own loops after an await and in a timer, and what follows runs", async () => {
      for (const code of [
        `await null; console.log("begun"); for (;;);`,
        `await null; console.log("begun"); do { for (const one in { a: 1 }) void one; } while (true);`,
        `await new Promise((resolve) => setTimeout(resolve, 5)); console.log("begun"); try { for (;;); } finally { await new Promise((resolve) => setTimeout(resolve, 20)); }`,
        `setTimeout(() => { console.log("begun"); for (;;); }, 5); await new Promise(() => {});`,
        `await null; const endless = (function* () { for (;;) yield 1; })(); console.log("begun"); for (const one of endless) void one;`,
      ]) {
        const cell = await interrupted(code);
        expect(cell.reply, code).toMatchObject({ status: "error", ename: "Interrupted" });
        expect(printed(cell, "stderr"), code).toBe("");
        const next = await client.execute(
          `await new Promise((resolve) => setTimeout(resolve, 5)); await Promise.resolve(1 + 1)`,
        );
        expect(resultText(next), code).toBe("2");
      }
    });

    const turns = {
      microtasks: "const turn = (): Promise<void> => Promise.resolve().then(turn); void turn();",
      "microtasks of two functions":
        "const one = (): Promise<void> => Promise.resolve().then(two); const two = (): Promise<void> => Promise.resolve().then(one); void one();",
      "the next tick": "function turn() { process.nextTick(turn); } turn();",
      "a queue of microtasks":
        "const each = { turn() { queueMicrotask(() => each.turn()); } }; each.turn();",
      recursion:
        "const fib = (n: number): number => (n < 2 ? n : fib(n - 1) + fib(n - 2)); void Promise.resolve(60).then(fib);",
      "recursion of a property":
        "const of = { fib: (n: number): number => (n < 2 ? n : of.fib(n - 1) + of.fib(n - 2)) }; void Promise.resolve(60).then(of.fib);",
    };
    test.each(Object.entries(turns))(
      "it ends a loop by %s, also of a cell that has ended",
      async (title, code) => {
        const running = await interrupted(
          `await null; console.log("begun"); { ${code} } await new Promise(() => {});`,
        );
        expect(running.reply).toMatchObject({ status: "error", ename: "Interrupted" });
        expect(printed(running, "stderr")).toBe("");
        const [go, begun] = ["go", "begun"].map((name) => join(folder.path, `${name} ${title}`));
        const left = await client.execute(
          `import { existsSync, writeFileSync } from "node:fs";
           const timer = setInterval(() => {
             if (!existsSync("go ${title}")) return;
             clearInterval(timer);
             writeFileSync("begun ${title}", "");
             ${code}
           }, 5);`,
        );
        expect(left.reply["status"]).toBe("ok");
        writeFileSync(go!, "");
        await until(() => existsSync(begun!), 20);
        await client.call("interrupt");
        expect(resultText(await client.execute("1 + 1"))).toBe("2");
      },
    );

    test("none is lost where synchronous code begins or ends", async () => {
      const random = randomNumbers(11);
      for (let round = 0; round < 5; round++) {
        const turns = Math.floor(random() * 2_000_000);
        const cell = await interrupted(
          `console.log("begun"); for (let turn = 0; turn < ${turns}; turn++); await new Promise(() => {});`,
        );
        expect(cell.reply).toMatchObject({ status: "error", ename: "Interrupted" });
      }
    });

    test("a cell's own listener of SIGINT hears it too", async () => {
      await client.execute(
        `let heard = 0;
         const listen = () => { heard++; };
         process.on("SIGINT", listen);`,
      );
      // Not before the first await: V8 itself takes the signal there.
      await interrupted(`await null; console.log("begun"); await new Promise(() => {});`);
      const cell = await interrupted(
        `process.off("SIGINT", listen); console.log("begun"); for (;;);`,
      );
      expect(cell.reply).toMatchObject({ ename: "Interrupted" });
      expect(resultText(await client.execute("heard"))).toBe("1");
    });

    test("interrupts of a running query leave kernel and engine answering", async () => {
      await client
        .execute(
          `import { connect, between } from "probelab";
         const lab = await connect();
         const range = between("2024-01-01", "2024-01-02");
         const bounds = "{start:DateTime64(3)} < {end:DateTime64(3)}";
         const slow = "SELECT count() AS n FROM numbers(1000000000000) WHERE sipHash64(number) = 1 AND " + bounds;
         const running = "SELECT count() AS n FROM system.processes WHERE query LIKE '%sipHash64%' AND query NOT LIKE '%processes%' AND " + bounds;`,
          { timeout: 120 },
        )
        .then((cell) => expect(cell.reply).toMatchObject({ status: "ok" }));
      const random = randomNumbers(7);
      for (let round = 0; round < 4; round++) {
        const cell = await interrupted(
          `console.log("begun"); await lab.query(slow, { range });`,
          Math.floor(random() * 400),
        );
        expect(cell.reply).toMatchObject({ status: "error", ename: "Interrupted" });
        expect(tracebackText(cell.reply).split("\n")).toEqual([
          "Interrupted: The cell was interrupted. Its variables are as they were at that moment.",
          expect.stringMatching(/^ {4}at cell \d+, line 1$/),
          expect.stringContaining("> 1 | console.log"),
          expect.stringMatching(/^ +\| +\^$/),
        ]);
        await until(async () => {
          const left = await client.execute("(await lab.query(running, { range })).column('n')");
          return resultText(left) === "[ 0 ]";
        }, 15);
      }
      const answer = await client.execute(
        `(await lab.query("SELECT 1 AS one WHERE " + bounds, { range })).column("one")`,
      );
      expect(resultText(answer)).toBe("[ 1 ]");
    }, 180_000);

    test("a restart leaves no process of the old kernel behind and begins anew", async () => {
      const before = await client.call<number>("pid");
      await client.call("restart");
      const after = await client.call<number>("pid");
      expect(after).not.toBe(before);
      expect(processesOf("kernel-launch").includes(before)).toBe(false);
      const cell = await client.execute("typeof lab");
      expect(cell.reply).toMatchObject({ status: "error", ename: "TypeScriptError" });
      await until(() => processesOf(data).length === 0, 20);
    });

    test("a kernel that is killed takes its engine with it", async () => {
      const connected = await client.execute(
        `import { connect } from "probelab"; const lab = await connect(); lab.source`,
        { timeout: 120 },
      );
      expect(connected.reply).toMatchObject({ status: "ok" });
      expect(processesOf(data).length).toBeGreaterThan(0);
      await client.call("kill");
      await until(() => processesOf(data).length === 0, 20);
    });
  });
}
