import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

test("the site of the documents is built, with no dead link and no warning", async () => {
  const child = spawn(process.execPath, ["scripts/docs.mjs", "--site"], { cwd: root });
  let told = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text: Buffer) => (told += text.toString()));
  }
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  expect({ code, told: code === 0 ? "" : told }).toEqual({ code: 0, told: "" });
  expect(existsSync(`${root}out/docs/index.html`)).toBe(true);
});
