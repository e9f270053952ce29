import { existsSync } from "node:fs";
import { join } from "node:path";

/** Where poppler's tools are missing (Debian: poppler-utils), tests that need them are skipped. */
export const popplerMissing = !["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].some((folder) =>
  existsSync(join(folder, "pdftoppm")),
);
export const popplerNote = popplerMissing
  ? " (skipped: pdftoppm is missing, install poppler-utils)"
  : "";
