import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { fontFiles, isShipped } from "./shipped-font.js";
import { readFontFace, type FontFace } from "./font-face.js";

/** What drawing something took beside the shipped font. */
export interface UsedFonts {
  /** True where the shipped font had not every character: what is drawn depends on the machine. */
  readonly others: boolean;
  /** The machine's fonts that were taken. */
  readonly faces: readonly FontFace[];
}

// Spaces, controls, invisible formatting and the replacement character need no glyph of their own.
const INVISIBLE = /[\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Variation_Selector}\ufffd]/u;
const SVG_TEXT = /<text\b[^>]*>(.*?)<\/text>/gs;
const DEEPEST = 6;
const MOST_FILES = 5_000;

const notes = new AsyncLocalStorage<{ others: boolean; readonly faces: Set<FontFace> }>();

/** The texts that an SVG shows, without its description and origin. */
export function shownText(svg: string): string {
  return [...svg.matchAll(SVG_TEXT)].map(([, text = ""]) => text).join("");
}

/**
 * The fonts of this machine that draw what the shipped font can't: as few as will do, the one that
 * has most of the characters first. A warning of the process names those that none has.
 */
export function otherFonts(text: string, format: "PNG" | "PDF"): readonly FontFace[] {
  let needed = otherCharacters(text);
  if (needed.length === 0) return [];
  const faces: FontFace[] = [];
  while (needed.length > 0) {
    const best = bestFace(needed);
    if (best === undefined) break;
    faces.push(best);
    needed = needed.filter((code) => !best.has(code));
  }
  const own = notes.getStore();
  if (own) own.others = true;
  for (const face of faces) own?.faces.add(face);
  warnOfMissing(
    needed.map((code) => String.fromCodePoint(code)),
    format,
  );
  return faces;
}

const EMOJI = /\p{Extended_Pictographic}/u;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const MOST_SHOWN = 8;

const told = new Set<string>();

// Says what a picture shows boxes for, and what to install, once for each package of fonts
// (`process.on("warning")`, code `PROBELAB_FONTS`): on the error output of a command, and below the
// cell of a notebook.
function warnOfMissing(missing: readonly string[], format: "PNG" | "PDF"): void {
  const packageOf = (character: string): string =>
    EMOJI.test(character)
      ? "fonts-noto-color-emoji"
      : CJK.test(character)
        ? "fonts-noto-cjk"
        : "fonts-noto-core";
  const fresh = missing.filter((character) => !told.has(`${format} ${packageOf(character)}`));
  if (fresh.length === 0) return;
  const packages = new Set(fresh.map(packageOf));
  for (const name of packages) told.add(`${format} ${name}`);
  const more = fresh.length > MOST_SHOWN ? ` and ${fresh.length - MOST_SHOWN} more` : "";
  process.emitWarning(
    `The ${format} shows boxes for ${JSON.stringify(fresh.slice(0, MOST_SHOWN).join(""))}${more}, which neither the shipped font nor one of this machine has: install one that does (on Debian ${[...packages].join(" and ")}), or name its folder in PROBELAB_FONTS.`,
    { type: "ProbelabWarning", code: "PROBELAB_FONTS" },
  );
}

/** The fonts as resvg takes them: the shipped one, and those. */
export function fontOptions(faces: readonly FontFace[]) {
  return {
    fontFiles: [...fontFiles(), ...faces.map(({ path }) => path)],
    loadSystemFonts: false,
    defaultFontFamily: "Arimo",
    sansSerifFamily: "Arimo",
  };
}

/** What `draw` gives, and which fonts its pictures and pages took. */
export async function withUsedFonts<T>(
  draw: () => Promise<T>,
): Promise<{ readonly made: T; readonly used: UsedFonts }> {
  const own = { others: false, faces: new Set<FontFace>() };
  const made = await notes.run(own, draw);
  return { made, used: { others: own.others, faces: [...own.faces] } };
}

/** SHA-256 of a font's file, in hexadecimal. */
export function fontHash(face: FontFace): string {
  return createHash("sha256").update(readFileSync(face.path)).digest("hex");
}

/** The characters of a text that the shipped font has no glyph for, each once. */
function otherCharacters(text: string): number[] {
  const seen = new Set<number>();
  for (const [character] of text.matchAll(/[^\u0000-\u007e]/gu)) {
    const code = character.codePointAt(0) ?? 0;
    if (!isShipped(code) && !INVISIBLE.test(character)) seen.add(code);
  }
  return [...seen];
}

/** The first font that has all of the characters, else the one that has the most. */
function bestFace(needed: readonly number[]): FontFace | undefined {
  let best: FontFace | undefined;
  let most = 0;
  for (const path of systemFontFiles()) {
    const face = faceOf(path);
    const count = face ? needed.filter((code) => face.has(code)).length : 0;
    if (face && count > most) [best, most] = [face, count];
    if (most === needed.length) break;
  }
  return best;
}

const known = new Map<string, FontFace | undefined>();

/** The font of a file; none where it is damaged, or no font at all. */
function faceOf(path: string): FontFace | undefined {
  if (known.has(path)) return known.get(path);
  let face: FontFace | undefined;
  try {
    face = readFontFace(path);
  } catch {
    face = undefined;
  }
  known.set(path, face);
  return face;
}

let found: { readonly key: string; readonly files: readonly string[] } | undefined;

/**
 * The font files of this machine, the most suitable for a chart first: upright, of normal weight,
 * sans; of the folders in `PROBELAB_FONTS` (separated as in `PATH`), else of the operating system.
 */
export function systemFontFiles(): readonly string[] {
  const folders = fontFolders();
  const key = folders.join(delimiter);
  if (found?.key !== key) {
    const files = [...new Set(folders.flatMap((folder) => filesIn(folder, DEEPEST)))];
    found = { key, files: files.slice(0, MOST_FILES).sort((a, b) => rank(a) - rank(b)) };
    known.clear();
  }
  return found.files;
}

function fontFolders(): string[] {
  const { PROBELAB_FONTS: own, XDG_DATA_HOME: data, XDG_DATA_DIRS: shared } = process.env;
  if (own !== undefined) return own.split(delimiter).filter((folder) => folder !== "");
  const home = homedir();
  if (process.platform === "win32") {
    const local = process.env.LOCALAPPDATA || join(home, "AppData", "Local");
    const windows = process.env.WINDIR || "C:\\Windows";
    return [join(windows, "Fonts"), join(local, "Microsoft", "Windows", "Fonts")];
  }
  if (process.platform === "darwin") {
    return [join(home, "Library/Fonts"), "/Library/Fonts", "/System/Library/Fonts"];
  }
  const folders = (shared || "/usr/local/share:/usr/share").split(":").filter(Boolean);
  return [
    join(data || join(home, ".local/share"), "fonts"),
    join(home, ".fonts"),
    ...folders.map((folder) => join(folder, "fonts")),
  ];
}

function filesIn(folder: string, depth: number): string[] {
  if (depth === 0) return [];
  try {
    return readdirSync(folder, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return filesIn(path, depth - 1);
        return /\.(ttf|otf|ttc|otc)$/i.test(entry.name) ? [path] : [];
      });
  } catch {
    return []; // not there, or not readable
  }
}

/** Fonts of last resort draw a placeholder for everything, and are worth no more than a box. */
function rank(path: string): number {
  const name = basename(path);
  return (
    (/last.?resort|unifont/i.test(name) ? 100 : 0) +
    (/bold|black|heavy|light|thin|condensed|narrow/i.test(name) ? 8 : 0) +
    (/italic|oblique/i.test(name) ? 8 : 0) +
    (/mono/i.test(name) ? 4 : 0) +
    (/sans|droid|gothic|hei/i.test(name) ? 0 : 2) +
    (/regular/i.test(name) ? 0 : 1)
  );
}
