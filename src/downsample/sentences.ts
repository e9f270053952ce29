import { counted } from "./counted.js";
import type { Method } from "./downsample.js";
import type { ReducedLines } from "./line/reduce-lines.js";

/** What became of the rows of a line. */
export function lineSentence(
  before: number,
  after: number,
  line: Pick<ReducedLines, "exact" | "columns">,
  width: number,
): string {
  const drawn = `${counted(before, "row")} drawn as ${after.toLocaleString("en-US")}`;
  if (line.exact) return `${drawn}: first, last, lowest and highest of each pixel column.`;
  const gaps =
    line.columns < width
      ? ` Gaps narrower than ${Math.ceil(width / line.columns)} pixels are closed.`
      : "";
  return `${drawn}: those that shape the lines most, the lowest and highest of each among them.${gaps}`;
}

const CHOSEN: Record<Exclude<Method, "auto">, string> = {
  m4: "first, last, lowest and highest of each column of pixels",
  minMax: "lowest and highest of each of equally many rows",
  lttb: "largest triangles (LTTB); peaks may be missing",
  minMaxLttb: "largest triangles among lowest and highest (MinMaxLTTB); peaks may be missing",
  everyNth: "evenly spaced rows; spikes are missing",
};

/** What became of the rows by a method that was asked for. */
export function methodSentence(
  before: number,
  after: number,
  method: Exclude<Method, "auto">,
): string {
  return `${counted(before, "row")} kept as ${after.toLocaleString("en-US")}: ${CHOSEN[method]}.`;
}
