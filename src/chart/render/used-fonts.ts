import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Fallback } from "./fallback-fonts.js";
import type { FontFace } from "./font-face.js";

/** What drawing something took beside the shipped font. */
export interface UsedFonts {
  /** True where the shipped font had not every character: what is drawn depends on the machine. */
  readonly others: boolean;
  /** The machine's fonts that were taken. */
  readonly faces: readonly FontFace[];
}

interface Notes {
  others: boolean;
  readonly faces: Set<FontFace>;
}

const notes = new AsyncLocalStorage<Notes>();

/** What `draw` gives, and which fonts its pictures and pages took. */
export async function withUsedFonts<T>(
  draw: () => Promise<T>,
): Promise<{ readonly made: T; readonly used: UsedFonts }> {
  const own: Notes = { others: false, faces: new Set() };
  const made = await notes.run(own, draw);
  return { made, used: { others: own.others, faces: [...own.faces] } };
}

/** Tells `withUsedFonts`, where it waits for that, what a picture takes. */
export function noteFonts({ faces, missing }: Fallback): void {
  const own = notes.getStore();
  if (own === undefined) return;
  if (faces.length + missing.length > 0) own.others = true;
  for (const face of faces) own.faces.add(face);
}

const hashes = new WeakMap<FontFace, string>();

/** SHA-256 of a font's file, in hexadecimal. */
export function fontHash(face: FontFace): string {
  let hash = hashes.get(face);
  if (hash === undefined) {
    hash = createHash("sha256").update(readFileSync(face.path)).digest("hex");
    hashes.set(face, hash);
  }
  return hash;
}
