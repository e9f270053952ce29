import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { awaitedPlaces } from "./awaited-places.js";
import type { SourcePlace } from "./cell-map.js";
import type { CellScripts } from "./cell-scripts.js";
import { isProbelabError } from "./is-probelab-error.js";

/** A frame of a stack: a place in the analyst's code, or a line that stands as it is. */
export interface Frame {
  readonly call: string;
  readonly place: SourcePlace | undefined;
}

const framePattern =
  /^\s+at (?:(?:async )?(.*?) \()?(?:async )?(?:file:\/\/)?(.+?):(\d+):(\d+)\)?$/;
const machinery = dirname(fileURLToPath(import.meta.url));
const library = join(machinery, "..", sep);
const mostLibraryFrames = 5;

/** The frames of an error down to the cell's own code, then the awaits that it came through. */
export function stackPlaces(error: unknown, scripts: CellScripts): Frame[] {
  const stack = error instanceof Error && typeof error.stack === "string" ? error.stack : "";
  const frames: Frame[] = [];
  // Its message says what to do; the way through the library is of no use to who reads it.
  const known = isProbelabError(error);
  for (const line of stack.split("\n")) {
    const [, call = "", file = "", row = "", column = ""] = framePattern.exec(line) ?? [];
    if (file === "" || isMachinery(file) || (known && isOfProbelab(file))) continue;
    frames.push({
      call: call || `${file}:${row}`,
      place: scripts.find(file, Number(row), Number(column)),
    });
  }
  const lastOwn = frames.findLastIndex((frame) => frame.place);
  const own = frames.slice(0, lastOwn < 0 ? mostLibraryFrames : lastOwn + 1);
  for (const text of awaitedPlaces(error)) {
    const [, source = "", line = "", column = ""] = /^(.*):(\d+):(\d+)$/.exec(text) ?? [];
    const place = { source, line: Number(line), column: Number(column) };
    const known = own.some(
      (frame) => frame.place?.source === source && frame.place.line === place.line,
    );
    if (source !== "" && !known) own.push({ call: "await", place });
  }
  const firstOwn = own.findIndex((frame) => frame.place);
  return own.filter((frame, index) => frame.place ?? index < Math.min(firstOwn, mostLibraryFrames));
}

function isOfProbelab(file: string): boolean {
  return file.startsWith(library) || /\/node_modules\/probelab\/dist\//.test(file);
}

function isMachinery(file: string): boolean {
  return (
    file.startsWith("node:") || file.startsWith(machinery) || file.includes("/node_modules/tslab/")
  );
}
