import { readFileSync } from "node:fs";
import type { FontFace } from "./font-face.js";
import type { PdfKit } from "./pdf-document.js";

const fontsOf = new WeakMap<PdfKit, Set<string>>();

/** The name under which the document knows a font of the machine; read into it on first use. */
export function pdfFont(kit: PdfKit, face: FontFace): string {
  let paths = fontsOf.get(kit);
  if (paths === undefined) fontsOf.set(kit, (paths = new Set()));
  if (!paths.has(face.path)) {
    kit.registerFont(face.path, readFileSync(face.path), face.name);
    paths.add(face.path);
  }
  return face.path;
}
