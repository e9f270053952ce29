import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderOf, writeRun, type Run } from "../../../src/watch/schedule/history.js";
import { overview, writeSeen, type Seen } from "../../../src/watch/schedule/overview.js";
import { schedulePage } from "../../../src/watch/schedule/page.js";
import { serveSchedule } from "../../../src/watch/schedule/serve.js";

const at = new Date("2026-11-22T19:31:00Z");
const schedule = { every: "30 minutes", zone: "UTC", memory: 1e9, timeout: 600_000 } as const;
const hostile = `<img src=x onerror=alert(1)>"'&\u202e`;

function run(notebook: string, index: number, more: Partial<Run> = {}): Run {
  const started = new Date(at.getTime() - 50_000 - index * 1_800_000).toISOString();
  const id = `${started.replace(/[-:]|\.\d+/g, "")}-${index.toString(16).padStart(6, "0")}`;
  return {
    ...{ id, notebook, started, period: `${started.slice(0, 17)}00.000Z`, periods: 1, state: "ok" },
    ...{ seconds: 12, peakMemory: 4e8, exit: 0, error: null, rowsRead: 1200, page: `${id}/p.html` },
    ...more,
  };
}

const seen = (...names: string[]): Seen => ({
  ...{ version: 1, folder: "/srv/notebooks", stays: false, looked: at.toISOString(), troubles: [] },
  notebooks: names.map((name) => ({ name, path: `${name}.ipynb`, schedule })),
});
const page = (all: Readonly<Record<string, readonly Run[]>>) => {
  const histories = Object.entries(all).map(
    ([name, runs]) => [name, { runs, damaged: [] }] as const,
  );
  return schedulePage(overview("/none", seen(...Object.keys(all)), new Map(histories), at));
};

test("the schedule's page has failures first, and all that is to be known of each", () => {
  const failed = run("b", 0, {
    state: "error",
    error: "Cell 2 of 3 failed.\nError: no luck\n  at …",
  });
  const html = page({ a: [run("a", 0)], b: [failed, run("b", 1), run("b", 2)] });
  const text = html
    .replace(/<style[^]*?<\/style>|<title>[^]*?<\/title>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");
  expect(text).toMatch(/1 fails, 1 fine , as of 2026-11-22 19:31 UTC/);
  expect(text).toMatch(
    /fails b every 30 minutes Last run 2026-11-22 19:30, error, 12 s, 400 MB, 1,200 rows read Last good 2026-11-22 19:00 Next run 2026-11-22 20:00 .*Durations of the last 3 runs, up to 12 s .*Cell 2 of 3 failed\. Error: no luck.* fine a /,
  );
  expect(html).toContain(`href="${folderOf("/none", "b").slice(6)}/${failed.page}"`);
});

test("the schedule's page is inert: no script, no request, texts as text", () => {
  const error = `<script>alert(1)</script>\n${hostile}`;
  const html = page({
    [hostile]: [
      run(hostile, 0, { state: "error", error, page: `20261122T193010Z-000000/${hostile}.html` }),
    ],
  });
  expect(html).not.toMatch(/<img|<script|\u202e.*<h2>|javascript:/);
  expect(html).toMatch(
    /content="default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'"/,
  );
  expect(html.replace(/<style[^]*?<\/style>/, "")).not.toMatch(
    /<[^>]*\s(?:style|on\w+)=|url\(|https?:\/\//,
  );
});

test("the schedule is served on loopback: its page and its runs', nothing else, to nobody else", async () => {
  const out = await mkdtemp(join(tmpdir(), "probelab-schedule-"));
  const one = run("n", 0);
  await writeSeen(out, seen("n"));
  await writeRun(folderOf(out, "n"), one);
  const place = folderOf(out, "n").slice(out.length);
  await mkdir(join(out, "secret"));
  await writeFile(join(out, "secret", "p.html"), "secret");
  await writeFile(join(out, place, one.id, "p.html"), "the run's page");
  const server = await serveSchedule(out, 0);
  const get = (path: string, headers: Record<string, string> = {}) =>
    new Promise<[number | undefined, string]>((resolve, reject) => {
      request(server.url, { path, headers }, (response) => {
        let text = "";
        response.on("data", (part: Buffer) => (text += part.toString()));
        response.on("end", () => resolve([response.statusCode, text]));
      })
        .on("error", reject)
        .end();
    });
  try {
    expect(await get("/")).toEqual([200, expect.stringContaining("Scheduled notebooks")]);
    expect(await get(`${place}/${one.page}`)).toEqual([200, "the run's page"]);
    for (const path of [
      "/secret/p.html",
      "/schedule.json",
      `${place}/${one.id}/run.json`,
      `${place}/${one.id}/..%2f..%2f..%2fsecret%2fp.html`,
      "/%zz",
      `${place}/${one.id}/%00.html`,
    ]) {
      expect((await get(path))[0], path).toBe(404);
    }
    expect((await get("/", { host: "evil.example" }))[0]).toBe(403);
  } finally {
    await server.close();
    await rm(out, { recursive: true });
  }
});
