import { createRequire } from "node:module";
import { cleanText } from "../../base/text.js";
import type { FontFace } from "../../fonts/font-face.js";
import { fontHash } from "../../fonts/other-fonts.js";

const require = createRequire(import.meta.url);

/** What writes a postmortem: the same versions and fonts write the same bytes. */
export function versions(): Record<string, string> {
  const { version } = require("../../../package.json") as { version: string };
  return { probelab: version, node: process.versions.node };
}

/** Fonts of the machine as versions: `font Noto Sans CJK SC` and the SHA-256 of its file. */
export function fontVersions(faces: Iterable<FontFace>): Record<string, string> {
  const hashes = new Map<string, Set<string>>();
  for (const face of faces) {
    const name = `font ${cleanText(face.family, 100) || "without a name"}`;
    hashes.set(name, (hashes.get(name) ?? new Set()).add(fontHash(face)));
  }
  const sorted = [...hashes].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, files]) => [name, [...files].sort().join(" ")]));
}
