import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where poppler's tools are missing (Debian: poppler-utils), tests that need them are skipped. */
export const popplerMissing = !["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].some((folder) =>
  existsSync(join(folder, "pdftoppm")),
);
export const popplerNote = popplerMissing
  ? " (skipped: pdftoppm is missing, install poppler-utils)"
  : "";

/** The text of a PDF as pdftotext extracts it. */
export function pdfText(pdf: Buffer): string {
  return inFolder(pdf, (file) =>
    execFileSync("pdftotext", ["-layout", file, "-"]).toString("utf8"),
  );
}

/** The first page as 3 bytes (red, green, blue) a pixel. @param scale pixels for each CSS pixel. */
export function pdfPixels(
  pdf: Buffer,
  scale: number,
): { width: number; height: number; pixels: Buffer } {
  return inFolder(pdf, (file, folder) => {
    const out = join(folder, "page");
    execFileSync("pdftoppm", ["-r", String(96 * scale), "-singlefile", file, out]);
    const ppm = readFileSync(`${out}.ppm`);
    const head = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(ppm.toString("latin1", 0, 100));
    if (!head) throw new TypeError("pdftoppm wrote no PPM");
    return {
      width: Number(head[1]),
      height: Number(head[2]),
      pixels: ppm.subarray(head[0].length),
    };
  });
}

function inFolder<T>(pdf: Buffer, use: (file: string, folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "probelab-pdf-"));
  try {
    const file = join(folder, "chart.pdf");
    writeFileSync(file, pdf);
    return use(file, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
