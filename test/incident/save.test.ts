import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readParquet } from "../support/read-parquet.js";
import { parseCsv } from "../chart/support/parse-csv.js";
import { weeklyDurations } from "../chart/support/sample-results.js";
import { ownFolder } from "../support/temporary-directory.js";
import { checkHashes, filesOf, read } from "./folder.js";
import { NOW, report } from "./report.js";

const parent = ownFolder();
let kept = "";

beforeAll(async () => {
  kept = await report().save(join(parent, "kept"), { now: NOW });
});

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

describe("report.save(folder)", () => {
  test("writes documents, charts, data and queries of every figure, and the hashes of all", () => {
    const found = filesOf(kept);
    expect(found.filter((path) => path.startsWith("data/"))).toHaveLength(8);
    expect(found.filter((path) => path.startsWith("charts/"))).toHaveLength(6);
    expect(found.filter((path) => !path.includes("/"))).toEqual([
      ".gitattributes",
      "SHA256SUMS",
      "postmortem.html",
      "postmortem.json",
      "postmortem.md",
    ]);
    expect(found.filter((path) => path.startsWith("queries/"))).toHaveLength(4);
    checkHashes(kept);
  });

  test("data/ holds the rows of each figure", async () => {
    const [path = ""] = filesOf(kept).filter((each) => /^data\/run-duration.*parquet$/.test(each));
    const original = weeklyDurations();
    const { names, rows } = await readParquet(readFileSync(join(kept, path)));
    expect(names).toEqual(original.columnNames());
    expect(rows).toEqual(original.rows().map((row) => Object.values(row)));
    const csv = parseCsv(read(kept, path.replace(".parquet", ".csv")));
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

  test("replaces its own folder; one that was touched, or is of another title or time, where told so", async () => {
    const folder = changed("mine", (at) => {
      writeFileSync(join(at, "postmortem.md"), "my own words");
      writeFileSync(join(at, "notes.txt"), "mine");
      unlinkSync(join(at, "postmortem.json"));
    });
    const lost = (what: string) =>
      `holds what would be lost, ${what}. If it is this incident's, save once with { replaceChanges: true }; else pass another folder.`;
    const touched = "notes.txt (added), postmortem.json (missing), postmortem.md (changed)";
    await expect(report().save(folder, { now: NOW })).rejects.toThrow(lost(touched));
    const other = () => report().set({ title: "Another", detectedAt: "2026-03-20T08:30:00Z" });
    const about = `its title "Short runs after 3.11.0", its detectedAt "2026-03-20T08:40:00.000Z"`;
    await expect(other().save(kept, { now: NOW })).rejects.toThrow(lost(about));
    expect(read(folder, "postmortem.md")).toBe("my own words");
    await other().save(folder, { now: NOW, replaceChanges: true });
    expect(filesOf(folder)).toEqual(filesOf(kept));
    expect(read(folder, "postmortem.md")).toContain("# Another");
    await other().set({ status: "final" }).save(folder, { now: NOW });
    expect(read(folder, "postmortem.md")).toContain("final");
  });

  test("writes the same bytes for the same postmortem", async () => {
    const folder = await report().save(join(parent, "again"), { now: NOW });
    for (const path of filesOf(kept)) {
      const same = readFileSync(join(folder, path)).equals(readFileSync(join(kept, path)));
      expect(same, path).toBe(true);
    }
  });

  test("leaves out what nobody wrote, and lists it at the top of a draft only", async () => {
    expect(read(kept, "postmortem.md")).toMatch(
      /^# .*\n\nDraft\. Still missing: root causes, trigger/,
    );
    const final = await report().set({ status: "final" }).save(join(parent, "final"), { now: NOW });
    const text = read(final, "postmortem.md");
    expect(text).not.toMatch(/missing|Not written|## (Trigger|Resolution|Lessons)/);
    expect(text).toMatch(/- \[ \] Postmortem: not complete/);
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

  test("names a link and a pipe in the place of files, reads neither, and prints no escape sequence", async () => {
    const folder = changed("odd", (at) => {
      writeFileSync(join(at, "charts", ".DS_Store"), "of a desktop");
      rmSync(join(at, "postmortem.md"));
      symlinkSync("/dev/zero", join(at, "postmortem.md"));
      rmSync(join(at, "postmortem.json"));
      execFileSync("mkfifo", [join(at, "postmortem.json")]);
      writeFileSync(join(at, "a\u202edm\x1b]0;mine\x07.md"), "x");
    });
    const error = await report()
      .save(folder, { now: NOW })
      .catch((thrown: Error) => thrown.message);
    expect(error).toMatch(
      /lost, \S*.* \(added\), postmortem.json \(changed\), postmortem.md \(changed\)\. /,
    );
    expect(error).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });

  test.each(["{}", "../../../etc/passwd", "/etc/passwd"])(
    "refuses a folder whose SHA256SUMS holds %s",
    async (path) => {
      const folder = changed(`sums-${path.length}`, (at) =>
        writeFileSync(join(at, "SHA256SUMS"), `${"0".repeat(64)}  ${path}\n`),
      );
      await expect(report().save(folder, { replaceChanges: true })).rejects.toThrow(
        "its SHA256SUMS is damaged. Pass another folder.",
      );
    },
  );
});
