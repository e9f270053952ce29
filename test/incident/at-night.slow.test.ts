import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openWriter } from "../../src/database/writer.js";
import { postmortem } from "../../src/index.js";
import { fillSample } from "../../src/sample/fill.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { read } from "./folder.js";

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const text = readFileSync(new URL("../../docs/at-night.md", import.meta.url), "utf8");

test("docs/at-night.md: its commands lead from an alert to a postmortem that lacks nothing", async () => {
  await using home = await temporaryDirectory();
  {
    await using writer = await openWriter(home.source);
    await fillSample(writer, { rows: 200_000 });
  }
  const posts: string[] = [];
  let printed = "";
  const chat = createServer((request, response) => {
    request.on("data", (part: Buffer) => posts.push(part.toString()));
    request.on("end", () => response.end("ok"));
  }).listen(0, "127.0.0.1");
  await once(chat, "listening");
  const url = `http://127.0.0.1:${(chat.address() as AddressInfo).port}/hook`;
  const config = { alerts: { channels: [{ kind: "chat", url }] } };
  writeFileSync(join(home.path, "package.json"), "{}");
  writeFileSync(join(home.path, "probelab.config.json"), JSON.stringify(config));
  const commands = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block);
  // A finding (8), a drop that is over (10) and too little data (9) are answers, too.
  const script = [
    `npx() { shift; "${process.execPath}" "${CLI}" "$@"; local code=$?; case $code in 0|8|9|10) ;; *) exit $code;; esac; }`,
    ...commands,
  ].join("\n");
  try {
    const env = { ...process.env, PROBELAB_MEASUREMENTS: `embedded:${home.path}` };
    const { stdout, stderr } = await promisify(execFile)("bash", ["-c", script], {
      cwd: home.path,
      env,
    });
    expect(/Can't .*/.exec(stderr)?.[0]).toBeUndefined();
    printed = stdout.replace(/\s+/g, " ");
  } finally {
    chat.close();
  }
  expect(posts.join("")).toContain("Rollout of 3.10.0 stopped");
  const [name = ""] = readdirSync(join(home.path, "incidents"));
  const folder = join(home.path, "incidents", name);
  const { draft, figures } = await postmortem.open(folder);
  // What drop, explain and release printed, then logs.
  expect(draft.findings).toHaveLength(4);
  for (const { text: found } of draft.findings.slice(0, 3)) {
    expect(printed).toContain(found.replace(/\s+/g, " ").split(/(?<=\.) /)[0]);
  }
  expect(figures.length).toBeGreaterThan(1);
  const written = read(folder, "postmortem/postmortem.md");
  expect(written).toMatch(/- \[x\] Postmortem: done/);
  expect(written).not.toMatch(/Still missing|nobody yet/);
}, 240_000);
