import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { addEntry, openIncident } from "../../src/incident/living/incident.js";
import { alert } from "../../src/watch/alert/alert.js";
import { checkDeadlines } from "../../src/watch/deadlines.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";
import { receiver } from "./alert/receiver.js";

let home: TemporaryDirectory;
let chat: Awaited<ReturnType<typeof receiver>>;
beforeEach(async () => {
  [home, chat] = [await temporaryDirectory(), await receiver()];
  vi.stubEnv("PROBELAB_WATCH", home.path);
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-05-04T08:00:00Z") });
});
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  await chat[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const links = {
  notebook: "https://lab.example.org/i.ipynb",
  page: "https://lab.example.org/i.html",
  runbook: "https://docs.example.org/runbook",
};

it("checkDeadlines(folder) calls once where the response is due, once where it is missed, and resolves both", async () => {
  const folder = await openIncident({ title: "No <submits>", severity: 2 }, home.path, "A");
  const channels = [alert.chat(chat.url)];
  const tick = async (time: string) => {
    vi.setSystemTime(new Date(`2026-05-04T${time}:00Z`));
    const before = chat.received.length;
    await checkDeadlines(folder, { links, channels, send: true });
    return chat.texts().slice(before);
  };
  expect(await tick("13:59")).toEqual([]);
  const [due, ...rest] = await tick("14:00");
  expect(rest).toEqual([]);
  expect(due).toContain("*Severity 2: Response due: No &lt;submits&gt;*");
  expect(due).toContain("is due 2026-05-04 16:00 UTC, in 2 h.");
  expect(due).toContain(links.runbook);
  expect(await tick("14:05")).toEqual([]);
  expect(await tick("16:00")).toEqual([]);
  expect(await tick("16:01")).toEqual([
    expect.stringContaining("*Severity 2: Response missed: No &lt;submits&gt;*"),
  ]);
  expect(await tick("16:05")).toEqual([]);
  await addEntry(folder, { told: { respondedAt: "2026-05-04 16:06" } }, "A");
  const over = await tick("16:10");
  expect(over.join("\n").match(/Resolved: Response (due|missed)/g)).toEqual([
    "Resolved: Response due",
    "Resolved: Response missed",
  ]);
  expect(await tick("16:15")).toEqual([]);
});
