import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sha256 } from "../../../src/incident/postmortem/folder/manifest.js";
import { verificationText } from "../../../src/incident/postmortem/verify/texts.js";
import { verifyPostmortem } from "../../../src/incident/postmortem/verify/verify.js";
import { filesOf } from "./files-of.js";
import { NOW, report } from "./report.js";

let parent = "";
let folder = "";

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "probelab-harm-"));
  folder = await report().save(join(parent, "report"), { now: NOW });
}, 240_000);
afterAll(() => rmSync(parent, { recursive: true, force: true }));

describe("verifyPostmortem(folder) of a folder made to harm", () => {
  type Json = Record<string, unknown>;
  const copy = (name: string, change: (at: string) => void): string => {
    const at = join(parent, name);
    cpSync(folder, at, { recursive: true });
    change(at);
    return at;
  };
  const edit = (path: string, change: (text: string) => string) => (at: string) =>
    writeFileSync(join(at, path), change(readFileSync(join(at, path), "utf8")));
  /** The manifest's hashes made right again. */
  const rehashed = (change: (at: string) => void) => (at: string) => {
    change(at);
    const manifest = JSON.parse(readFileSync(join(at, "manifest.json"), "utf8")) as { files: Json };
    for (const path of Object.keys(manifest.files)) {
      const bytes = readFileSync(join(at, path));
      manifest.files[path] = { sha256: sha256(bytes), bytes: bytes.length };
    }
    writeFileSync(join(at, "manifest.json"), JSON.stringify(manifest));
  };
  const record = (
    change: (record: { figures: { name: string; recipe: unknown }[] } & Json) => void,
  ) =>
    rehashed(
      edit("postmortem.json", (text) => {
        const value = JSON.parse(text) as { figures: { name: string; recipe: unknown }[] } & Json;
        change(value);
        return JSON.stringify(value);
      }),
    );
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const first = () => filesOf(folder).filter((path) => path.endsWith(".parquet"));

  test.each<[string, (at: string) => void]>([
    ["a figure named __proto__", record(({ figures }) => void (figures[0]!.name = "__proto__"))],
    ["a figure with a path", record(({ figures }) => void (figures[0]!.name = "../../etc/passwd"))],
    ["a figure that isn't there", record(({ figures }) => void (figures[0]!.name = "nowhere"))],
    ["no recipe", record(({ figures }) => void (figures[0]!.recipe = { unknown: [null] }))],
    ["a recipe of a text", record(({ figures }) => void (figures[0]!.recipe = "x"))],
    [
      "a recipe too deep",
      rehashed(
        edit("postmortem.json", (text) =>
          text.replace(/"recipe": \{/, `"recipe": ${deep}, "x": {`),
        ),
      ),
    ],
    [
      "a prototype",
      rehashed(
        edit("postmortem.json", (text) =>
          text.replace("{", '{"__proto__": {"title": "x"}, "constructor": 1,'),
        ),
      ),
    ],
    [
      "a link that runs",
      record(
        (value) =>
          void (value["findings"] = [{ text: "x", evidence: [{ link: "javascript:alert(1)" }] }]),
      ),
    ],
    ["half a record", edit("postmortem.json", (text) => text.slice(0, 500))],
    [
      "swapped data",
      (at) => {
        const [one = "", , , two = ""] = first();
        cpSync(join(folder, one), join(at, two));
      },
    ],
    [
      "swapped data with its hash",
      rehashed((at) => {
        const [one = "", , , two = ""] = first();
        cpSync(join(folder, one), join(at, two));
      }),
    ],
    [
      "cut data with its hash",
      rehashed((at) => {
        const [one = ""] = first();
        writeFileSync(join(at, one), readFileSync(join(folder, one)).subarray(0, 700));
      }),
    ],
    [
      "a link for a file",
      (at) => {
        rmSync(join(at, "postmortem.md"));
        symlinkSync("/dev/zero", join(at, "postmortem.md"));
      },
    ],
    [
      "a pipe for the data",
      (at) => {
        const path = join(at, first()[0] ?? "");
        rmSync(path);
        if (process.platform === "win32") writeFileSync(path, "");
        else execFileSync("mkfifo", [path]);
      },
    ],
  ])("%s: is told in a sentence", async (name, change) => {
    const verification = await verifyPostmortem(copy(name.replaceAll(" ", "-"), change));
    expect(verification.intact).toBe(false);
    const lines = verificationText(verification).trimEnd().split("\n");
    expect(lines.at(-1)).toBe("The postmortem is not as it was saved.");

    expect(
      lines.filter(
        (line) =>
          line.length > 700 || /\bat .*:\d+:\d+|[\u0000-\u001f\u007f-\u009f]|"code":/.test(line),
      ),
    ).toEqual([]);
    expect(({} as { title?: string }).title).toBeUndefined();
  });

  test.each<[string, (text: string) => string]>([
    ["a path", (text) => text.replace('"postmortem.md"', '"data/../../../etc/passwd.md"')],
    ["an absolute path", (text) => text.replace('"postmortem.md"', '"/etc/passwd"')],
    ["a backslash", (text) => text.replace('"postmortem.md"', '"data\\\\..\\\\x.md"')],
    ["too deep", () => deep],
    ["nothing", () => ""],
    ["a list", () => "[]"],
  ])("a manifest with %s is refused", async (name, change) => {
    const at = copy(`manifest-${name.replaceAll(" ", "-")}`, edit("manifest.json", change));
    await expect(verifyPostmortem(at)).rejects.toThrow(
      /^Can't read manifest\.json of ".*": it is no manifest that this probelab writes; restore the file, or use the version that wrote it\.$/,
    );
  });

  test("a manifest that is a link to a device is none", async () => {
    const at = copy("manifest-link", (to) => {
      rmSync(join(to, "manifest.json"));
      symlinkSync("/dev/zero", join(to, "manifest.json"));
    });
    await expect(verifyPostmortem(at)).rejects.toThrow(/has no manifest\.json/);
  });

  test("a title with an escape sequence reaches no terminal", async () => {
    const at = copy(
      "escape",
      edit("manifest.json", (text) =>
        text.replace(/"title": ".*?[^\\]"/, '"title": "\\u001b[2J\\u009b31m\\u202eevil"'),
      ),
    );

    expect(verificationText(await verifyPostmortem(at))).not.toMatch(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/,
    );
  });
});
