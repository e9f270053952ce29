import { execFileSync } from "node:child_process";
import {
  mkdtempSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  sha256,
  verificationText,
  verifyPostmortem,
} from "../../../src/incident/postmortem/folder/manifest.js";
import { readResultFile } from "../../../src/incident/postmortem/folder/result-file.js";
import { parseCsv } from "../../chart/support/parse-csv.js";
import { weeklyDurations } from "../../chart/support/sample-results.js";
import { filesOf } from "./files-of.js";
import { NOW, report } from "./report.js";

let parent = "";
let kept = "";

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "probelab-postmortem-"));
  kept = await report().save(join(parent, "kept"), { now: NOW });
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** A copy of the saved folder, changed by hand. */
function changed(name: string, change: (folder: string) => void): string {
  const folder = join(parent, name);
  for (const path of filesOf(kept)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), readFileSync(join(kept, path)));
  }
  change(folder);
  return folder;
}

const read = (folder: string, path: string): string => readFileSync(join(folder, path), "utf8");

describe("report.save(folder)", () => {
  test("writes documents, charts, data and queries of every figure, and a manifest of all", () => {
    const names = [
      "counts",
      "free",
      "run-duration-median-by-week-and-software-version-2026-02-01-t",
      "versions",
    ];
    const found = filesOf(kept);
    expect(found.filter((path) => path.startsWith("data/"))).toHaveLength(8);
    expect(found.filter((path) => path.startsWith("charts/"))).toHaveLength(6);
    expect(found.filter((path) => !path.includes("/"))).toEqual([
      ".gitattributes",
      "manifest.json",
      "postmortem.html",
      "postmortem.json",
      "postmortem.md",
      "postmortem.pdf",
    ]);
    const queries = found.filter((path) => path.startsWith("queries/"));
    expect(queries).toHaveLength(4);
    expect(queries[0]).toBe("queries/counts.sql");
    expect(names[0]).toBe("counts");
    const manifest = JSON.parse(read(kept, "manifest.json")) as {
      files: Record<string, { sha256: string }>;
    };
    expect(Object.keys(manifest.files).sort()).toEqual(
      found.filter((path) => path !== "manifest.json"),
    );
    for (const [path, { sha256: hash }] of Object.entries(manifest.files)) {
      expect(hash).toBe(sha256(readFileSync(join(kept, path))));
    }
  });

  test("data/ holds the rows of each figure, with what its columns mean", async () => {
    const [name] = filesOf(kept).filter(
      (path) => path.startsWith("data/run-duration") && path.endsWith(".parquet"),
    );
    const result = await readResultFile(readFileSync(join(kept, name ?? "")));
    const original = weeklyDurations();
    expect(result.rows()).toEqual(original.rows());
    expect(result.origin).toEqual({ ...original.origin, parameters: original.origin.parameters });
    const csv = parseCsv(read(kept, (name ?? "").replace(".parquet", ".csv")));
    expect(csv).toHaveLength(original.numRows() + 1);
    expect(csv[0]).toEqual(original.columnNames());
  });

  test("postmortem.md shows every figure from a file that is there", () => {
    const text = read(kept, "postmortem.md");
    const links = [...text.matchAll(/\]\(((?:charts|data|queries)\/[^)]+)\)/g)].map(
      ([, path]) => path ?? "",
    );
    expect(links).toHaveLength(3 * 5 + 3);
    expect(links.filter((path) => !filesOf(kept).includes(path))).toEqual([]);
    expect(text).toContain(
      "[alerts.example.org/a?b=1&amp;c=2](<https://alerts.example.org/a?b=1&c=2>)",
    );
    expect(text).toMatch(
      /\| 2026-03-18 09:00 \| 3\.11\.0 released \| \[Figure 1\]\(#figure-1\) \|/,
    );
  });

  test("replaces its own folder; one that was touched, or has another title or detection, only where told so", async () => {
    const folder = changed("mine", (at) => {
      writeFileSync(join(at, "postmortem.md"), "my own words");
      writeFileSync(join(at, "notes.txt"), "mine");
    });
    await expect(report().save(folder, { now: NOW })).rejects.toThrow(
      /what somebody did to it since, notes\.txt \(added\), postmortem\.md \(changed\), would be lost; save it elsewhere, or pass \{ replaceChanges: true \}\.$/,
    );
    const renamed = () => report().set({ title: "The same, renamed" });
    await expect(renamed().save(folder, { now: NOW })).rejects.toThrow(
      /it has the title "Short runs after 3\.11\.0", not "The same, renamed"\. If you corrected that, save once with \{ replaceChanges: true \}; if it is another incident, pass another folder\.$/,
    );
    const sooner = () => report().set({ detectedAt: "2026-03-20T08:30:00Z" });
    await expect(sooner().save(folder, { now: NOW })).rejects.toThrow(
      /it has an incident detected at 2026-03-20T08:40:00\.000Z, not 2026-03-20T08:30:00\.000Z\. If you corrected that/,
    );
    expect(read(folder, "postmortem.md")).toBe("my own words");
    await renamed().save(folder, { now: NOW, replaceChanges: true });
    expect(filesOf(folder)).toEqual(filesOf(kept));
    expect(read(folder, "postmortem.md")).toContain("# The same, renamed");
    await renamed().set({ status: "final" }).save(folder, { now: NOW });
    expect(read(folder, "postmortem.md")).toContain("final");
  });

  test("refuses a folder that holds another incident's postmortem", async () => {
    const other = () =>
      report().set({ title: "Another incident", detectedAt: "2026-03-19", respondedAt: null });
    const folder = changed("another", () => undefined);
    for (const replaceChanges of [false, true]) {
      await expect(other().save(folder, { now: NOW, replaceChanges })).rejects.toThrow(
        /holds that of another incident, "Short runs after 3.11.0"; pass a folder of its own/,
      );
    }
    expect(filesOf(folder)).toEqual(filesOf(kept));
    const damaged = changed("damaged", (at) =>
      writeFileSync(join(at, "data", "counts.parquet"), "x"),
    );
    await expect(report().set({ title: "Renamed" }).save(damaged, { now: NOW })).rejects.toThrow(
      /it has the title "Short runs/,
    );
  });

  test("takes a file that is gone for a change, and writes the same bytes for the same postmortem", async () => {
    const folder = changed("gone", (at) => unlinkSync(join(at, "postmortem.json")));
    await expect(report().save(folder, { now: NOW })).rejects.toThrow(
      /what somebody did to it since, postmortem\.json \(missing\), would be lost/,
    );
    await report().save(folder, { now: NOW, replaceChanges: true });
    expect(filesOf(folder)).toEqual(filesOf(kept));
    for (const path of filesOf(kept)) {
      const same = readFileSync(join(folder, path)).equals(readFileSync(join(kept, path)));
      expect(same, path).toBe(true);
    }
  });

  test("refuses a folder of something else", async () => {
    const folder = join(parent, "other");
    mkdirSync(folder);
    writeFileSync(join(folder, "thesis.txt"), "x");
    await expect(report().save(folder, { replaceChanges: true })).rejects.toThrow(
      /something else is there/,
    );
    expect(readdirSync(folder)).toEqual(["thesis.txt"]);
  });
});

describe("verifyPostmortem(folder)", () => {
  const textOf = async (folder: string) => {
    const verification = await verifyPostmortem(folder);
    return { ...verification, lines: verificationText(verification).trimEnd().split("\n") };
  };

  test("finds a saved folder as it was, whatever desktops drop into it", async () => {
    const folder = changed("looked-at", (at) =>
      writeFileSync(join(at, "charts", ".DS_Store"), "of a desktop"),
    );
    const { asSaved, files, lines } = await textOf(folder);
    expect(asSaved).toBe(true);
    expect(lines).toEqual([
      expect.stringMatching(
        /^Short runs after 3\.11\.0, saved at 2026-05-05 10:00 UTC by probelab /,
      ),
      `ok        ${files.length} files have the bytes that were saved`,
      "The postmortem is as it was saved.",
    ]);
  });

  test("names every file that was changed, is missing or was added", async () => {
    const more = changed("more", (at) => writeFileSync(join(at, "notes.txt"), "x"));
    const added = await textOf(more);
    expect(added.asSaved).toBe(false);
    expect(added.lines).toContain("added     notes.txt (not part of the postmortem)");
    expect(added.lines.at(-1)).toBe("The postmortem is as it was saved, but for 1 added file.");
    const folder = changed("touched", (at) => {
      writeFileSync(join(at, "queries", "counts.sql"), "SELECT 1");
      unlinkSync(join(at, "charts", "free.svg"));
      writeFileSync(join(at, "notes.txt"), "x");
      rmSync(join(at, "postmortem.md"));
      symlinkSync("/dev/zero", join(at, "postmortem.md"));
      rmSync(join(at, "postmortem.json"));
      execFileSync("mkfifo", [join(at, "postmortem.json")]);
    });
    const { files, lines } = await textOf(folder);
    expect(files.filter(({ state }) => state !== "same")).toEqual([
      { path: "charts/free.svg", state: "missing" },
      { path: "notes.txt", state: "added" },
      { path: "postmortem.json", state: "changed" },
      { path: "postmortem.md", state: "changed" },
      { path: "queries/counts.sql", state: "changed" },
    ]);
    expect(lines).toContain("MISSING   charts/free.svg");
    expect(lines.at(-1)).toBe("The postmortem is not as it was saved.");
  });

  const manifest = (change: (text: string) => string) => (at: string) =>
    writeFileSync(join(at, "manifest.json"), change(read(at, "manifest.json")));
  const path = (of: string) => manifest((text) => text.replace('"postmortem.md"', of));
  test.each<[string, (at: string) => void, RegExp]>([
    ["no manifest", (at) => unlinkSync(join(at, "manifest.json")), /has no manifest\.json/],
    [
      "a link to a device",
      (at) => {
        unlinkSync(join(at, "manifest.json"));
        symlinkSync("/dev/zero", join(at, "manifest.json"));
      },
      /has no manifest\.json/,
    ],
    ["an empty one", manifest(() => "{}"), /does not write such a manifest/],
    ["a path out", path('"data/../../../etc/passwd.md"'), /does not write such a manifest/],
    ["an absolute path", path('"/etc/passwd"'), /does not write such a manifest/],
    [
      "a deep one",
      manifest(() => `${"[".repeat(200_000)}${"]".repeat(200_000)}`),
      /does not write such a manifest/,
    ],
  ])("refuses %s", async (name, change, message) => {
    await expect(verifyPostmortem(changed(name.replaceAll(" ", "-"), change))).rejects.toThrow(
      message,
    );
  });

  test("a title or a path with an escape sequence reaches no terminal", async () => {
    const folder = changed("escape", (at) => {
      manifest((text) =>
        text.replace(/"title": ".*?[^\\]"/, '"title": "\\u001b[2J\\u009b31m\\u202eevil"'),
      )(at);
      writeFileSync(join(at, "data", "a\u202edm\x1b]0;mine\x07\nok all is well\x9b2J.md"), "x");
    });
    const { lines } = await textOf(folder);
    expect(lines.join("\n")).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(lines.at(-1)).toMatch(/but for 1 added file/);
  });
});
