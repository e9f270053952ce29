import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { readFontFace, type FontFace } from "./font-face.js";

const DEEPEST = 6;
const MOST_FILES = 5_000;

let known: { readonly key: string; readonly faces: readonly FontFace[] } | undefined;

/**
 * The fonts of this machine, the most suitable for a chart first: upright, of normal weight, sans.
 *
 * They are looked for in the folders of `PROBELAB_FONTS` (several separated as in `PATH`; none
 * where it is set and empty), else in those of the operating system. Read once, and again when the
 * setting changes.
 */
export function systemFonts(): readonly FontFace[] {
  const folders = fontFolders();
  const key = folders.join(delimiter);
  if (known?.key !== key) {
    const files = [...new Set(folders.flatMap((folder) => fontFiles(folder, DEEPEST)))];
    const faces = files.slice(0, MOST_FILES).flatMap((file) => {
      try {
        return [readFontFace(file)];
      } catch {
        return []; // damaged, or no font at all
      }
    });
    known = { key, faces: faces.sort((a, b) => rank(a.path) - rank(b.path)) };
  }
  return known.faces;
}

function fontFolders(): string[] {
  const { PROBELAB_FONTS: own, XDG_DATA_HOME: data, XDG_DATA_DIRS: shared } = process.env;
  if (own !== undefined) return own.split(delimiter).filter((folder) => folder !== "");
  const home = homedir();
  if (process.platform === "win32") {
    const { WINDIR: windows, LOCALAPPDATA: local } = process.env;
    return [
      join(windows || "C:\\Windows", "Fonts"),
      ...(local ? [join(local, "Microsoft", "Windows", "Fonts")] : []),
    ];
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

function fontFiles(folder: string, depth: number): string[] {
  if (depth === 0) return [];
  try {
    return readdirSync(folder, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return fontFiles(path, depth - 1);
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
