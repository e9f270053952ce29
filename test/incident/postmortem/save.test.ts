import {
  mkdtempSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { decode, encode } from "fast-png";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sha256 } from "../../../src/incident/postmortem/folder/manifest.js";
import { readResultFile } from "../../../src/incident/postmortem/folder/result-file.js";
import { verificationText } from "../../../src/incident/postmortem/verify/texts.js";
import { isAsSaved, verifyPostmortem } from "../../../src/incident/postmortem/verify/verify.js";
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

/** The manifest's hash of a file made right again, as somebody would who wants to deceive. */
function rehash(folder: string, path: string): void {
  const manifest = JSON.parse(read(folder, "manifest.json")) as {
    files: Record<string, { sha256: string; bytes: number }>;
  };
  const bytes = readFileSync(join(folder, path));
  manifest.files[path] = { sha256: sha256(bytes), bytes: bytes.length };
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
}

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
    expect(csv).toHaveLength(original.numRows + 1);
    expect(csv[0]).toEqual(original.columnNames);
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

  test("refuses a folder that holds another incident's postmortem, also without its record", async () => {
    const other = () =>
      report().set({ title: "Another incident", detectedAt: "2026-03-19", respondedAt: null });
    const gone = (at: string) => unlinkSync(join(at, "postmortem.json"));
    for (const folder of [changed("another", () => undefined), changed("no-record", gone)]) {
      const before = filesOf(folder);
      for (const replaceChanges of [false, true]) {
        await expect(other().save(folder, { now: NOW, replaceChanges })).rejects.toThrow(
          /holds that of another incident, "Short runs after 3.11.0"; pass a folder of its own/,
        );
      }
      expect(filesOf(folder)).toEqual(before);
    }
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
  test("finds a saved one intact, every chart the same, whatever desktops drop into it", async () => {
    const folder = changed("looked-at", (at) =>
      writeFileSync(join(at, "charts", ".DS_Store"), "of a desktop"),
    );
    const verification = await verifyPostmortem(folder);
    expect([verification.intact, isAsSaved(verification)]).toEqual([true, true]);
    expect(verification.files.every(({ state }) => state === "same")).toBe(true);
    expect(verification.redrawn.filter(({ path }) => path.endsWith(".png"))).toHaveLength(3);
    expect(verification.redrawn.every(({ state }) => state === "same")).toBe(true);
    expect(verificationText(verification)).toMatch(
      /^ok +3 charts drawn again from data\/: the same pictures$/m,
    );
  });

  test("says of an added file that it is not what was saved", async () => {
    const folder = changed("more", (at) => writeFileSync(join(at, "notes.txt"), "x"));
    const verification = await verifyPostmortem(folder);
    expect([verification.intact, isAsSaved(verification)]).toEqual([true, false]);
    const lines = verificationText(verification).trimEnd().split("\n");
    expect(lines).toContain("added     notes.txt (not part of the postmortem)");
    expect(lines.at(-1)).toBe("The postmortem is as it was saved, but for 1 added file.");
  });

  test("names every file that was changed, is missing or was added, and a manifest with other sizes", async () => {
    const sizes = (at: string) =>
      writeFileSync(
        join(at, "manifest.json"),
        read(at, "manifest.json").replace(/"bytes": [0-9]*/g, '"bytes": 1'),
      );
    await expect(report().save(changed("sizes", sizes), { now: NOW })).rejects.toThrow(
      /since, manifest\.json \(changed\), would be lost/,
    );
    const folder = changed("touched", (at) => {
      sizes(at);
      writeFileSync(join(at, "queries", "counts.sql"), "SELECT 1");
      unlinkSync(join(at, "charts", "free.svg"));
      writeFileSync(join(at, "notes.txt"), "x");
    });
    const verification = await verifyPostmortem(folder);
    expect(verification.intact).toBe(false);
    expect(verification.files.filter(({ state }) => state !== "same")).toEqual([
      { path: "charts/free.svg", state: "missing" },
      { path: "manifest.json", state: "changed" },
      { path: "notes.txt", state: "added" },
      { path: "queries/counts.sql", state: "changed" },
    ]);
    expect(verificationText(verification)).toMatch(/^MISSING +charts\/free\.svg$/m);
    expect(verificationText(verification)).toMatch(/^CHANGED +manifest\.json$/m);
  });

  test("finds a picture and a text that are not what the data gives, also with hashes made right, and a painted digit", async () => {
    const folder = changed("swapped", (at) => {
      const path = join(at, "charts", "counts.png");
      writeFileSync(join(at, "charts", "free.png"), readFileSync(path));
      writeFileSync(join(at, "postmortem.md"), read(at, "postmortem.md").replace("40 %", "4 %"));
      const { data, ...picture } = decode(readFileSync(path));
      for (let y = 0; y < 12; y++) {
        for (let x = 0; x < 3 * picture.channels; x++) {
          const byte = ((y + 120) * picture.width + 40) * picture.channels + x;
          data[byte] = 255 - (data[byte] ?? 0);
        }
      }
      writeFileSync(path, encode({ data, ...picture }));
      for (const name of ["charts/counts.png", "charts/free.png", "postmortem.md"])
        rehash(at, name);
    });
    const verification = await verifyPostmortem(folder);
    expect(verification.files.every(({ state }) => state === "same")).toBe(true);
    const differ = verification.redrawn.filter(({ state }) => state === "differs");
    expect(differ.map(({ path }) => path).sort()).toEqual([
      "charts/counts.png",
      "charts/free.png",
      "postmortem.md",
    ]);
    // A speck of the picture.
    expect(differ.find(({ path }) => path === "charts/counts.png")?.pixels).toBe(36);
    expect(verification.intact).toBe(false);
    expect(verificationText(verification)).toMatch(
      /^DIFFERS +charts\/free\.png is not what the data gives \([\d,]+ pixels differ\)$/m,
    );
  });

  test("finds files that are gone with their lines of the manifest, and a manifest that tells another story", async () => {
    const folder = changed("thinned", (at) => {
      const manifest = JSON.parse(read(at, "manifest.json")) as { title: string; files: object };
      for (const path of ["charts/free.svg", "queries/counts.sql"]) {
        unlinkSync(join(at, path));
        Reflect.deleteProperty(manifest.files, path);
      }
      writeFileSync(join(at, "manifest.json"), JSON.stringify({ ...manifest, title: "Another" }));
    });
    const verification = await verifyPostmortem(folder);
    expect(verification.intact).toBe(false);
    expect(verification.files.every(({ state }) => state === "same")).toBe(true);
    expect(verification.redrawn.filter(({ state }) => state !== "same")).toEqual([
      { path: "manifest.json", state: "differs" },
      { path: "queries/counts.sql", state: "missing" },
      { path: "charts/free.svg", state: "missing" },
    ]);
  });

  test("of another Node: rows, queries and text are compared all the same, the rest by hash, which it says", async () => {
    const renamed = (name: string, change: (at: string) => void): string =>
      changed(name, (at) => {
        for (const path of [
          "postmortem.json",
          "charts/counts.svg",
          "postmortem.html",
          "manifest.json",
        ]) {
          writeFileSync(join(at, path), read(at, path).replaceAll(process.versions.node, "18.0.0"));
          if (path !== "manifest.json") rehash(at, path);
        }
        change(at);
      });
    const alone = verificationText(await verifyPostmortem(renamed("elder", () => undefined)));
    expect(alone).toMatch(
      /as far as this version and its fonts can tell: 2 files were compared by hash alone\./,
    );
    const lied = await verifyPostmortem(
      renamed("lied", (at) => {
        writeFileSync(
          join(at, "data", "counts.csv"),
          read(at, "data/counts.csv").replace(/\d\r\n$/, "999999\r\n"),
        );
        rehash(at, "data/counts.csv");
      }),
    );
    expect(lied.intact).toBe(false);
    expect(lied.redrawn).toContainEqual({ path: "data/counts.csv", state: "differs" });
  });

  test.each(["data/counts.parquet", "postmortem.json"])(
    "draws nothing of a changed %s, and says so",
    async (path) => {
      const folder = changed(`broken-${path.length}`, (at) => writeFileSync(join(at, path), "x"));
      const verification = await verifyPostmortem(folder);
      expect(verification.intact).toBe(false);
      expect(verification.redrawn).toEqual([]);
      expect(verification.undrawn).toMatch(/can't be used/);
      expect(verificationText(verification)).toMatch(/^UNDRAWN /m);
    },
  );

  test.each([
    ["no-manifest", (at: string) => unlinkSync(join(at, "manifest.json")), /has no manifest.json/],
    [
      "bad-manifest",
      (at: string) => writeFileSync(join(at, "manifest.json"), "{}"),
      /no manifest that this probelab writes/,
    ],
    [
      "outside",
      (at: string) =>
        writeFileSync(
          join(at, "manifest.json"),
          read(at, "manifest.json").replace('"postmortem.md"', '"../../etc/passwd"'),
        ),
      /no manifest that this probelab writes/,
    ],
  ])("refuses %s", async (name, change, message) => {
    await expect(verifyPostmortem(changed(name, change))).rejects.toThrow(message);
  });
});
