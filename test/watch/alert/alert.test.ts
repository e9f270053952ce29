import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { chart } from "../../../src/chart/chart.js";
import { resultOfRows } from "../../../src/result/own-rows.js";
import { alert } from "../../../src/watch/alert/alert.js";
import type { AlertMessage } from "../../../src/watch/alert/message.js";
import { raise, resolve, type Outbox } from "../../../src/watch/alert/outbox.js";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.js";
import { hangUp, receiver, status } from "./receiver.js";

type Receiver = Awaited<ReturnType<typeof receiver>>;

let folder: TemporaryDirectory;
let chat: Receiver;
let push: Receiver;
beforeEach(async () => {
  folder = await temporaryDirectory();
  vi.stubEnv("PROBELAB_WATCH", folder.path);
  [chat, push] = [await receiver(), await receiver()];
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await chat[Symbol.asyncDispose]();
  await push[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const links = {
  notebook: "https://lab.example.org/drop.ipynb",
  page: "https://lab.example.org/drop.html",
  runbook: "https://docs.example.org/runbooks/drop",
};
const message: AlertMessage = {
  title: "Measurements fell by half in Côte d’Ivoire",
  text: "1,200 instead of 2,400 since 03:00 <UTC> & no end.",
  severity: 2,
  links,
  key: "drop CI",
};
const HOUR = 3_600_000;
const start = Date.UTC(2026, 4, 1);
const at = (hours: number) => new Date(start + hours * HOUR);
const box = (secondary = false): Outbox => ({
  folder: join(folder.path, "alerts"),
  channels: [alert.chat(`${chat.url}/services/hook`)],
  secondary: secondary ? [alert.push(`${push.url}/probelab`)] : [],
  windowMs: 4 * HOUR,
});

describe("alert.send(message)", () => {
  it("sends a chat message with the severity, the text and every link", async () => {
    const channels = [alert.chat(`${chat.url}/services/hook`)];
    const report = await alert.send(message, { channels, send: true });
    expect(report.sentence).toBe('"drop CI" to chat: sent.');
    expect(chat.received[0]!.path).toBe("/services/hook");
    expect(chat.texts()).toEqual([
      `:rotating_light: *Severity 2: ${message.title}*\n1,200 instead of 2,400 since 03:00 &lt;UTC&gt; &amp; no end.\n<${links.page}|page> · <${links.runbook}|runbook> · <${links.notebook}|notebook>`,
    ]);
  });

  it("sends a push with title, priority, tags, click, buttons, and the chart as its picture", async () => {
    const rows = resultOfRows([
      { name: "before", n: 2400 },
      { name: "now", n: 1200 },
    ]);
    const channels = [alert.push(`${push.url}/topic`, { token: "tk_secret" })];
    await alert.send({ ...message, chart: chart.bar(rows) }, { channels, send: true });
    const [{ path, headers, body }] = push.received as [Receiver["received"][number]];
    expect(path).toBe("/topic");
    expect(body.subarray(1, 4).toString()).toBe("PNG");
    const read = (name: string) => {
      const text = String(headers[name]);
      const base64 = /^=\?UTF-8\?B\?(.*)\?=$/.exec(text)?.[1];
      return base64 === undefined ? text : Buffer.from(base64, "base64").toString("utf8");
    };
    expect(read("title")).toBe(`Severity 2: ${message.title}`);
    expect(read("message")).toBe(message.text);
    expect(headers).toMatchObject({
      ...{ priority: "4", tags: "rotating_light", click: links.page, filename: "chart.png" },
      authorization: "Bearer tk_secret",
    });
    expect(JSON.parse(read("actions"))).toHaveLength(3);
  });

  it("sends nothing from a notebook that is run by hand, and shows what it would send", async () => {
    const channels = [alert.chat(chat.url)];
    const report = await alert.send(message, { channels });
    expect(report).toMatchObject({ sent: false, outcomes: [] });
    expect(report.sentence).toContain(`Severity 2: ${message.title}\n${message.text}\npage: `);
    vi.stubEnv("AUTORUN", "1");
    expect((await alert.send(message, { channels })).sent).toBe(true);
    expect(chat.received).toHaveLength(1);
  });

  it("takes its links from the schedule, one's own first, and a dry run says which are missing", async () => {
    vi.stubEnv("PROBELAB_LINKS", JSON.stringify({ notebook: links.notebook, page: links.page }));
    const given = alert.links({ page: "", dashboard: "https://dash.example.org/flow" });
    expect(given).toEqual({ ...links, runbook: "", dashboard: "https://dash.example.org/flow" });
    expect(alert.links({ runbook: links.runbook })).toEqual(links);
    const missing = { ...message, links: given };
    const { sentence } = await alert.send(missing);
    expect(sentence).toMatch(/\nrunbook: missing\n/);
    expect(sentence).toMatch(
      /Can't send an alert with the link runbook: "".*probelab\.config\.json\.$/,
    );
    // What couldn't be sent is found out before it must be.
    await expect(alert.when(false, missing, { send: true })).rejects.toThrow(/link runbook/);
  });

  it.each([
    [
      { ...message, links: { ...links, runbook: "runbooks/drop.md" } },
      /link runbook: .*pass a whole address/,
    ],
    [{ ...message, links: { page: links.page } }, /link notebook: undefined/],
    [{ ...message, severity: 5 }, /severity: 5: pass 1, 2, 3 or 4/],
    [{ ...message, title: undefined }, /without title/],
    [{ ...message, tittle: "x" }, /option "tittle": did you mean title\?/],
  ])("refuses what would call somebody without telling them what to do", async (wrong, error) => {
    await expect(alert.send(wrong as AlertMessage, { send: true })).rejects.toThrow(error);
  });

  it("fails where no channel took it, without the address, and keeps it for the next", async () => {
    chat.answer(status(404));
    const hook = `${chat.url}/services/T000/B000/XXXXXXXXXXXX`;
    const channels = [alert.chat(hook)];
    const error = await alert
      .send({ ...message, key: "refused" }, { channels, send: true })
      .catch((one: unknown) => one as Error);
    expect((error as Error).message).toMatch(/no channel took it \(chat it answered 404\)/);
    expect((error as Error).message).not.toContain("XXXXXXXXXXXX");
    await expect(alert.send(message, { channels: [], send: true })).rejects.toThrow(
      /no channel is configured/,
    );
  });

  it("takes its channels from probelab.config.json", async () => {
    const config = {
      alerts: {
        channels: [{ kind: "chat", url: chat.url }],
        secondary: [{ kind: "push", url: push.url }],
      },
    };
    await writeFile(join(folder.path, "probelab.config.json"), JSON.stringify(config));
    vi.stubEnv("PROBELAB_PROJECT", folder.path);
    await alert.send(message, { send: true });
    expect([chat.received.length, push.received.length]).toEqual([1, 0]);
    await writeFile(
      join(folder.path, "probelab.config.json"),
      '{ "alerts": { "channels": [{ "kind": "chat", "adress": "x" }] } }',
    );
    await expect(alert.send(message, { send: true })).rejects.toThrow(
      /"adress" in alerts\.channels\.0 .* may hold "kind", "name", "url", "credential", "token"/,
    );
  });
});

describe("the outbox", () => {
  it("sends an alert once in its window, reminds of one that is raised on, and resolves it", async () => {
    for (const hours of [0, 2, 3, 4.5, 5]) await raise(box(), [message], at(hours));
    expect(chat.texts()).toHaveLength(2);
    expect(chat.texts()[1]).toContain("Raised 4 times since 2026-05-01 00:00 UTC.");
    await resolve(box(), ["drop CI"], at(6));
    expect(chat.texts().at(-1)).toMatch(
      /^:white_check_mark: \*Resolved: Measurements .*raised since 2026-05-01 00:00 UTC and is over at 2026-05-01 06:00 UTC/s,
    );
    expect(await resolve(box(), ["drop CI"], at(7))).toEqual([]);
    expect(chat.received).toHaveLength(3);
    expect((await readdir(box().folder)).filter((name) => name.endsWith(".json"))).toEqual([]);
  });

  it("takes one that is raised again after its window for a new one", async () => {
    for (const hours of [0, 10]) await raise(box(), [message], at(hours));
    expect(chat.texts().map((text) => text.includes("Raised"))).toEqual([false, false]);
  });

  it("tells at once of one that becomes more severe", async () => {
    await raise(box(), [{ ...message, severity: 3 }], at(0));
    await raise(box(), [message], at(1));
    expect(chat.texts().map((text) => /Severity \d/.exec(text)?.[0])).toEqual([
      "Severity 3",
      "Severity 2",
    ]);
  });

  it("groups several alerts of one moment into one notice", async () => {
    await raise(box(), [message, { ...message, key: "drop IT", title: "In Italy" }], at(0));
    expect(chat.texts()).toHaveLength(1);
    expect(chat.texts()[0]).toMatch(/Côte d’Ivoire[^]*\n\n:rotating_light: \*Severity 2: In Italy/);
  });

  it("retries a channel that is busy, as long as it asks, and delivers once", async () => {
    chat.answer(status(503), status(429, { "retry-after": "1" }));
    expect(await raise(box(), [message], at(0))).toMatchObject([{ state: "sent" }]);
    expect(chat.received).toHaveLength(3);
  });

  it("keeps what a channel that is down doesn't take, and delivers it later, once", async () => {
    const { url } = chat;
    await chat[Symbol.asyncDispose]();
    const down = { ...box(), channels: [alert.chat(url)] };
    expect(await raise(down, [message], at(0))).toMatchObject([
      { state: "waiting", why: expect.stringContaining("ECONNREFUSED") as string },
    ]);
    chat = await receiver();
    const back = { ...box(), channels: [alert.chat(chat.url)] };
    // Not before its wait is over; then with whatever is done next.
    expect(await resolve(back, ["another"], at(0))).toEqual([]);
    expect(await resolve(back, ["another"], at(1))).toMatchObject([{ state: "sent" }]);
    await raise(back, [message], at(1.5));
    expect(chat.texts()).toHaveLength(1);
  });

  it("lets the secondary channel take over, and tells nobody twice", async () => {
    chat.answer(status(500), status(500), status(500));
    expect(await raise(box(true), [message], at(0))).toMatchObject([
      { channel: "chat", state: "waiting" },
      { channel: "push", state: "sent" },
    ]);
    const tries = chat.received.length;
    await raise(box(true), [message], at(1));
    await resolve(box(true), ["drop CI"], at(2));
    expect(chat.received.length).toBe(tries);
    expect(push.received.map(({ headers }) => headers["tags"])).toEqual([
      "rotating_light",
      "white_check_mark",
    ]);
  });

  it("hands over what may have arrived; without a secondary it says so when it sends it again", async () => {
    chat.answer(hangUp);
    expect(await raise(box(true), [message], at(0))).toMatchObject([
      { channel: "chat", state: "unknown" },
      { channel: "push", state: "sent" },
    ]);
    expect(chat.received).toHaveLength(1);
    chat.answer(hangUp);
    const other = { ...message, key: "other" };
    expect(await raise(box(), [other], at(0))).toMatchObject([{ state: "unknown" }]);
    await raise(box(), [other], at(1));
    expect(chat.texts().at(-1)).toContain("(sent again: the first may have arrived)");
  });

  it("tells of an alert that ended before its channel was back", async () => {
    chat.answer(status(500), status(500), status(500));
    await raise(box(), [message], at(0));
    await resolve(box(), ["drop CI"], at(1));
    expect(chat.texts().at(-1)).toMatch(
      /Resolved: .*raised since 2026-05-01 00:00 UTC and is over/s,
    );
  });

  it("sends each of many alerts once, whoever raises them at the same time", async () => {
    const keys = Array.from({ length: 12 }, (_, index) => `k${index % 4}`);
    await Promise.all(keys.map((key) => raise(box(), [{ ...message, key }], at(0))));
    expect(chat.received).toHaveLength(4);
  });

  it("sends all the same where nothing can be kept", async () => {
    await rm(folder.path, { recursive: true });
    await writeFile(folder.path, "a file, no folder");
    expect(await raise(box(), [message], at(0))).toMatchObject([{ state: "sent" }]);
  });
});

describe("alert.gauge(name, value)", () => {
  it("sends StatsD gauges; one below zero is no change of the last", async () => {
    const socket = createSocket("udp4").bind(0, "127.0.0.1");
    await once(socket, "listening");
    const { port } = socket.address();
    const lines: string[] = [];
    for (const value of [12.5, -3]) {
      const got = once(socket, "message");
      await alert.gauge("probelab.drop.IT", value, `127.0.0.1:${port}`);
      lines.push(String((await got)[0]));
    }
    socket.close();
    expect(lines).toEqual([
      "probelab.drop.IT:12.5|g",
      "probelab.drop.IT:0|g\nprobelab.drop.IT:-3|g",
    ]);
    await expect(alert.gauge("a b", 1, "127.0.0.1:1")).rejects.toThrow(/a name has letters/);
    await expect(alert.gauge("a", NaN, "127.0.0.1:1")).rejects.toThrow(/finite number/);
    await expect(alert.gauge("a", 1, "nowhere:99999")).rejects.toThrow(/write host:port/);
  });
});
