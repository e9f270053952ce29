import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { expect } from "vitest";
import { parseCsv } from "../chart/support/parse-csv.js";

/** Paths of all files of a folder, relative to it, in order. */
export function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** Fails unless SHA256SUMS lists every other file of the folder, each with its hash. */
export function checkHashes(folder: string): void {
  const listed = read(folder, "SHA256SUMS").trimEnd().split("\n");
  expect(listed.map((line) => line.slice(66)).sort()).toEqual(
    filesOf(folder).filter((path) => path !== "SHA256SUMS"),
  );
  execFileSync("sha256sum", ["--quiet", "-c", "SHA256SUMS"], { cwd: folder });
}

/** A file of a folder as text. */
export const read = (folder: string, path: string): string =>
  readFileSync(join(folder, path), "utf8");

/** The rows of a figure, its names first. */
export const rowsOf = (folder: string, name: string): string[][] =>
  parseCsv(read(folder, `data/${name}.csv`));

/** Everything that a reader could find in the files, also inside pictures. */
export function textOf(folder: string): string {
  return filesOf(folder)
    .map((path) => {
      const bytes = readFileSync(join(folder, path));
      return bytes.toString("latin1") + (path.endsWith(".png") ? pngText(bytes) : "");
    })
    .join("\n");
}

/** The origin that a PNG holds. */
export function pngText(png: Buffer): string {
  const at = png.indexOf("iTXtprobelab");
  const length = png.readUInt32BE(at - 4);
  return inflateSync(png.subarray(at + 4 + "probelab".length + 5, at + 4 + length)).toString();
}
