import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { alertCommand } from "../../../src/cli/alert.js";
import { alert, type AlertMessage } from "../../../src/index.js";
import { gpgTeam, hasGpg } from "../../support/gpg-team.js";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.js";
import { hangUp, receiver, status } from "./receiver.js";

type Receiver = Awaited<ReturnType<typeof receiver>>;

let folder: TemporaryDirectory;
let chat: Receiver;
let push: Receiver;
beforeEach(async () => {
  folder = await temporaryDirectory();
  vi.stubEnv("PROBELAB_WATCH", join(folder.path, "watch"));
  vi.stubEnv("PROBELAB_PROJECT", folder.path);
  [chat, push] = [await receiver(), await receiver()];
});
afterEach(async () => {
  vi.useRealTimers();
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
/** Configures the channels. @returns the options to send by hand */
function configured(...channels: object[]) {
  const config = JSON.stringify({ alerts: { channels } });
  writeFileSync(join(folder.path, "probelab.config.json"), config);
  return { send: true };
}
const ofChat = (url = `${chat.url}/services/hook`) => ({ kind: "chat", url });
const toChat = () => configured(ofChat());
const toBoth = () => configured(ofChat(), { kind: "push", url: `${push.url}/t` });
/** Sets the clock to some hours after the first of May. */
const at = (hours: number) =>
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 4, 1) + hours * 3_600_000 });
const kept = async () => {
  const alerts = join(folder.path, "watch", "alerts");
  const names = await readdir(alerts);
  return names.filter((name) => name.endsWith(".json")).map((name) => join(alerts, name));
};

describe("alert.send(message)", () => {
  it("posts the severity, the text and every link to a chat", async () => {
    const report = await alert.send(message, toChat());
    expect(report.sentence).toBe("Alert “drop CI” to chat: sent.");
    expect(chat.received[0]!.path).toBe("/services/hook");
    expect(chat.texts()).toEqual([
      `:rotating_light: *Severity 2: ${message.title}*\n1,200 instead of 2,400 since 03:00 &lt;UTC&gt; &amp; no end.\n<${links.page}|page> · <${links.runbook}|runbook> · <${links.notebook}|notebook>`,
    ]);
  });

  it("pushes the text with title, priority, tags, the page at a click, and links as buttons", async () => {
    const options = configured({ kind: "push", url: `${push.url}/topic` });
    await alert.send({ ...message, text: "ü".repeat(3_000) }, options);
    const [{ path, headers, body }] = push.received as [Receiver["received"][number]];
    // ntfy makes an attachment of more than 4,096 bytes, which most servers refuse.
    expect(body.length).toBeLessThanOrEqual(4_096);
    expect([path, body.toString()]).toEqual(["/topic", `${"ü".repeat(2_038)}… more on the page`]);
    const [, base64 = ""] = /^=\?UTF-8\?B\?(.*)\?=$/.exec(String(headers["title"]))!;
    expect(Buffer.from(base64, "base64").toString()).toBe(`Severity 2: ${message.title}`);
    expect(headers).toMatchObject({
      priority: "4",
      tags: "rotating_light",
      click: links.page,
    });
    expect(JSON.parse(String(headers["actions"]))).toHaveLength(3);
  });

  it("sends nothing from a notebook that is run by hand, and shows what it would send", async () => {
    toChat();
    const report = await alert.send(message);
    expect(report).toMatchObject({ sent: false, outcomes: [] });
    expect(report.sentence).toContain(`Severity 2: ${message.title}\n${message.text}\npage: `);
    expect((await alert.resolve("drop CI")).sentence).toBe(
      "With send: true, an open alert “drop CI” would be closed.",
    );
    vi.stubEnv("AUTORUN", "1");
    expect((await alert.send(message)).sent).toBe(true);
    expect(chat.received).toHaveLength(1);
  });

  it("takes its links from the schedule, those passed first; a dry run names the missing ones", async () => {
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
    await expect(alert.when(false, missing, { send: true })).rejects.toThrow(/link runbook/);
  });

  it("refuses links that are none, passed or of the schedule", () => {
    expect(() => alert.links(null as never)).toThrow(/the links null: pass an object/);
    vi.stubEnv("PROBELAB_LINKS", "{notebook");
    expect(() => alert.links()).toThrow(/PROBELAB_LINKS, "{notebook": write JSON/);
  });

  it.each([
    [
      { ...message, links: { ...links, runbook: "runbooks/drop.md" } },
      /link runbook: .*pass a whole/,
    ],
    [{ ...message, links: { page: links.page } }, /link runbook: undefined/],
    [{ ...message, severity: 5 }, /severity: 5: pass 1, 2, 3 or 4/],
    [{ ...message, title: undefined }, /without title/],
    [{ ...message, tittle: "x" }, /option "tittle": did you mean title\?/],
    [null, /the alert null: pass one/],
  ])("refuses an alert that lacks something: %#", async (wrong, error) => {
    await expect(alert.send(wrong as AlertMessage, { send: true })).rejects.toThrow(error);
  });

  it.each([undefined, null, NaN, Promise.resolve(false)])(
    "refuses the condition and the key %s",
    async (none) => {
      await expect(alert.when(none as never, message, toChat())).rejects.toThrow(
        /whether to alert from .*: pass true or false/,
      );
      await expect(alert.resolve(none as never, toChat())).rejects.toThrow(
        /resolve the alert .*: pass its key/,
      );
      expect(chat.received).toEqual([]);
    },
  );

  it("refuses channels that it doesn't know, or none", async () => {
    const write = (alerts: object) =>
      writeFile(join(folder.path, "probelab.config.json"), JSON.stringify({ alerts }));
    await write({ channels: [{ kind: "chat", adress: "x" }] });
    await expect(alert.send(message, { send: true })).rejects.toThrow(
      /"adress" in alerts\.channels\.0 .* may hold "kind", "name", "url", "credential", "token"/,
    );
    await write({ channels: [{ kind: "chat" }] });
    await expect(alert.send(message, { send: true })).rejects.toThrow(
      /either "url" or "credential"/,
    );
    await write({});
    await expect(alert.send(message, { send: true })).rejects.toThrow(/no channel is configured/);
  });
});

it("logs in with the user and the password of a channel's address", async () => {
  const url = chat.url.replace("://", "://ann:pass%2Fw0rd@");
  await alert.send(message, configured(ofChat(url)));
  const basic = `Basic ${Buffer.from("ann:pass/w0rd").toString("base64")}`;
  expect(chat.received[0]!.headers.authorization).toBe(basic);
});

it.skipIf(!hasGpg)("finds a channel's address and token in the credentials file", async () => {
  await using team = await gpgTeam();
  const clear = { push: { url: `${push.url}/topic`, token: "tk_secret" } };
  team.encrypted("team.gpg", JSON.stringify(clear), "ann");
  vi.stubEnv("GNUPGHOME", team.at("ann"));
  vi.stubEnv("PROBELAB_CREDENTIALS", team.at("team.gpg"));
  await alert.send(
    message,
    configured({ kind: "push", credential: "push.url", token: "push.token" }),
  );
  expect(push.received[0]).toMatchObject({
    path: "/topic",
    headers: { authorization: "Bearer tk_secret" },
  });
});

describe("probelab alert", () => {
  const command = (...args: string[]) => alertCommand.parseAsync(args, { from: "user" });

  it("sends how a CI run or a cron job ended, once for a key, and resolves it", async () => {
    const runbook = "https://docs.example.org/runbooks/ci";
    const alerts = { channels: [{ kind: "push", url: `${push.url}/topic` }], runbook };
    await writeFile(join(folder.path, "probelab.config.json"), JSON.stringify({ alerts }));
    const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const page = "https://ci.example.org/runs/7";
    const args = ["send", "Nightly build failed", "--page", page, "--key", "ci main"];
    for (let time = 0; time < 2; time += 1) await command(...args, "--severity", "2");
    await command("resolve", "ci main");
    push.answer(status(500));
    await expect(command(...args)).rejects.toThrow(/no channel took it/);
    const said = printed.mock.calls.map(([text]) => String(text)).join("");
    printed.mockRestore();
    expect(said).toMatch(
      /^Alert “ci main” to push: sent\.\nAlert “ci main” to push: already sent, .*\nAlert “ci main” closed to push: sent\.\n$/,
    );
    const titles = push.received.map(({ headers }) => headers["title"]);
    expect(titles.slice(0, 2)).toEqual([
      "Severity 2: Nightly build failed",
      "Resolved: Nightly build failed",
    ]);
    expect(push.received[0]!.headers).toMatchObject({ click: page, priority: "4" });
    expect(String(push.received[0]!.headers["actions"])).toContain(runbook);
  });
});

describe("an alert that is raised again", () => {
  it("is sent once in the window, again while it is raised on, and resolved once", async () => {
    const send = async (hours: number) => {
      at(hours);
      return alert.send(message, toChat());
    };
    for (const hours of [0, 2, 3, 4.5, 5]) await send(hours);
    expect((await send(5.5)).sentence).toBe(
      "Alert “drop CI” to chat: already sent, 1 May 2026 04:30 UTC.",
    );
    expect(chat.texts()).toHaveLength(2);
    expect(chat.texts()[1]).toContain("\nRaised since 1 May 2026 00:00 UTC.");
    at(6);
    await alert.resolve("drop CI", toChat());
    expect(chat.texts().at(-1)).toMatch(
      /^:white_check_mark: \*Resolved: Measurements .*Raised since 1 May 2026 00:00 UTC, over at 1 May 2026 06:00 UTC\./s,
    );
    expect((await alert.resolve("drop CI", toChat())).sentence).toBe(
      "The alert “drop CI” is not open.",
    );
    expect(chat.received).toHaveLength(3);
    expect(await kept()).toEqual([]);
    // After a pause of more than a day it is a new alert.
    for (const hours of [10, 40]) await send(hours);
    expect(chat.texts().slice(3).join()).not.toContain("Raised since");
  });

  it("ends by itself only after the next scheduled run could raise it", async () => {
    const options = configured({ kind: "alertmanager", url: chat.url });
    const ends = async (next: string) => {
      vi.stubEnv("PROBELAB_NEXT_RUN", next);
      at(6);
      await alert.send(message, options);
      const [sent] = JSON.parse(chat.received.at(-1)!.body.toString()) as [{ endsAt: string }];
      return sent.endsAt;
    };
    expect(await ends("2026-05-02T00:00:00.000Z")).toBe("2026-05-02T01:00:00.000Z");
    expect(await ends("2026-05-01T06:30:00.000Z")).toBe("2026-05-01T10:00:00.000Z");
  });

  it("is sent at once where it becomes more severe, and where the clock was wrong", async () => {
    at(9_000);
    await alert.send({ ...message, severity: 3 }, toChat());
    at(0);
    await alert.send({ ...message, severity: 3 }, toChat());
    at(1);
    await alert.send(message, toChat());
    const severities = chat.texts().map((text) => /Severity \d/.exec(text)?.[0]);
    expect(severities).toEqual(["Severity 3", "Severity 3", "Severity 2"]);
  });
});

it("sends an alert once where six runs raise it at the same moment", async () => {
  const options = toChat();
  const reports = await Promise.all(Array.from({ length: 6 }, () => alert.send(message, options)));
  expect(chat.received).toHaveLength(1);
  const states = reports.flatMap(({ outcomes }) => outcomes.map(({ state }) => state));
  expect(states.sort()).toEqual(["sent", ...Array<string>(5).fill("sent before")]);
});

describe("an alert that a channel doesn't take", () => {
  it("tells the end to a channel that failed when the alert was repeated, with its first start", async () => {
    at(0);
    await alert.send(message, toBoth());
    at(5);
    chat.answer(status(500));
    await alert.send(message, toBoth());
    at(6);
    const { outcomes } = await alert.resolve("drop CI", toBoth());
    expect(outcomes.map(({ channel, state }) => [channel, state])).toEqual([
      ["chat", "sent"],
      ["push", "sent"],
    ]);
    expect(chat.texts().at(-1)).toContain("Raised since 1 May 2026 00:00 UTC, over at");
  });

  it.each<[string, Record<string, string>, string, RegExp]>([
    [
      "a refusal",
      { "content-type": "application/json" },
      '{"ok":false,"error":"no_channel"}',
      /"no_channel"/,
    ],
    [
      "a login page",
      { "content-type": "text/html" },
      "<!doctype html><title>Log in</title>",
      /a login/,
    ],
    [
      "a login page of XML",
      {},
      "<?xml version='1.0'?>\n<html xmlns='x'><title/></html>",
      /a login/,
    ],
    ["the status of an error", {}, '{"status":"error"}', /"error"/],
  ])("is an error where a 200 holds %s", async (_, headers, answer, why) => {
    chat.answer((response) => void response.writeHead(200, headers).end(answer));
    await expect(alert.send(message, toChat())).rejects.toThrow(why);
  });

  it("is none where a 200 never ends, or breaks off", async () => {
    let sent = 0;
    chat.answer(
      (response) => {
        const more = () => {
          while (!response.destroyed && sent < 1e9 && response.write("x".repeat(1e6))) sent += 1e6;
        };
        response.on("drain", more);
        more();
      },
      (response) => {
        response.writeHead(200, { "content-length": "9" }).write("ok");
        response.socket?.end();
      },
    );
    for (const key of ["endless", "broken"]) {
      const { outcomes } = await alert.send({ ...message, key }, toChat());
      expect(outcomes).toMatchObject([{ state: "sent" }]);
    }
    expect(sent).toBeLessThan(1e8);
  });

  const redirect = status(302, { location: "/login" });
  it.each([
    ["403", status(403), /it answered 403/],
    ["a redirect", redirect, /it answered 302/],
    ["no answer", hangUp, /can't be reached/],
  ])("is an error (%s), and is sent when it is raised again", async (_, behave, why) => {
    const secret = `${chat.url}/services/T000/B000/XXXXXXXXXXXX`;
    const options = configured(ofChat(secret));
    for (let time = 0; time < 2; time += 1) {
      chat.answer(behave);
      const error = await alert.send(message, options).catch((each: unknown) => String(each));
      expect(error).toMatch(/Can't send the alert "drop CI": no channel took it \(chat: failed, /);
      expect(error).toMatch(why);
      expect(error).not.toContain("XXXXXXXXXXXX");
    }
    expect((await alert.send(message, options)).outcomes).toMatchObject([{ state: "sent" }]);
  });

  it("is sent to the others, and to it with the next run", async () => {
    chat.answer(status(500));
    expect((await alert.send(message, toBoth())).outcomes).toMatchObject([
      { channel: "chat", state: "failed", why: "it answered 500" },
      { channel: "push", state: "sent" },
    ]);
    expect((await alert.send(message, toBoth())).outcomes).toMatchObject([
      { channel: "chat", state: "sent" },
      { channel: "push", state: "sent before" },
    ]);
  });

  it("has its end sent again where the end was not taken", async () => {
    await alert.send(message, toBoth());
    chat.answer(status(500));
    await alert.resolve("drop CI", toBoth());
    await alert.resolve("drop CI", toBoth());
    expect(push.received).toHaveLength(2);
    expect(chat.texts().at(-1)).toContain("Resolved");
    await alert.send(message, toChat());
    chat.answer(status(500));
    await expect(alert.resolve("drop CI", toChat())).rejects.toThrow(/Can't resolve the alert/);
    expect((await alert.resolve("drop CI", toChat())).outcomes).toMatchObject([{ state: "sent" }]);
  });
});

const damagedState = (path: string, damage: object) =>
  writeFile(path, JSON.stringify({ message, since: 0, raised: Date.now(), sent: {}, ...damage }));

describe("the folder of alerts", () => {
  it.each<[string, (path: string) => Promise<unknown>]>([
    ["half a file", (path) => writeFile(path, '{"message": {"title"')],
    ["other JSON", (path) => writeFile(path, '[null, 7, {"sent": "yes"}]')],
    ["a channel without a time", (path) => damagedState(path, { sent: { chat: null } })],
    [
      "a message without links",
      (path) => damagedState(path, { message: { ...message, links: {} } }),
    ],
    ["a start that is no date", (path) => damagedState(path, { since: -1e300 })],
    ["a pipe", (path) => Promise.resolve(execFileSync("mkfifo", [path]))],
  ])("may hold %s: the alert is sent again, and others are as before", async (_, damage) => {
    await alert.send(message, toChat());
    await alert.send({ ...message, key: "other" }, toChat());
    chat.received.length = 0;
    for (const path of await kept()) {
      await rm(path);
      await damage(path);
    }
    const { outcomes, sentence } = await alert.send(message, toChat());
    expect(outcomes).toMatchObject([{ state: "sent" }]);
    expect(sentence).toMatch(/set aside as .*\.json\.damaged, so channels may show it twice\.$/);
    await alert.resolve("other", toChat());
    expect(chat.received).toHaveLength(1);
  });

  it("may be missing and unwritable: alerts are sent all the same", async () => {
    await writeFile(join(folder.path, "watch"), "a file, no folder");
    for (let time = 0; time < 2; time += 1) {
      expect((await alert.send(message, toChat())).outcomes).toMatchObject([{ state: "sent" }]);
    }
  });
});
