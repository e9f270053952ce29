import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fontParts } from "./font.js";
import { mergeFonts } from "./merge-fonts.js";

let paths: string[] | undefined;

/**
 * Paths of the shipped font as TTF files, which is what resvg reads.
 *
 * They are made on first use in the user's cache directory (`XDG_CACHE_HOME`, else `~/.cache`),
 * or, where that can't be written, in a temporary directory that goes with the process.
 */
export function fontPaths(): string[] {
  return (paths ??= writeFonts());
}

function writeFonts(): string[] {
  const fonts = fontParts().map(({ weight, parts }) => ({
    name: `arimo-${weight}`,
    ttf: mergeFonts(parts),
  }));
  let directory = join(
    process.env.XDG_CACHE_HOME || join(homedir(), ".cache"),
    "probelab",
    "fonts",
  );
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return fonts.map(({ name, ttf }) => place(directory, name, ttf));
  } catch {
    directory = mkdtempSync(join(tmpdir(), "probelab-fonts-"));
    process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
    return fonts.map(({ name, ttf }) => place(directory, name, ttf));
  }
}

/** The file's bytes are compared, so that a file cut short or from another version is made anew. */
function place(directory: string, name: string, ttf: Buffer): string {
  const path = join(directory, `${name}.ttf`);
  try {
    if (readFileSync(path).equals(ttf)) return path;
  } catch {
    // not there yet
  }
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, ttf, { mode: 0o600 });
  renameSync(temporary, path);
  return path;
}
