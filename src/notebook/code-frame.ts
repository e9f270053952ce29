import { bold, dim, red } from "./ansi.js";

/** Lines of code around a place, with a mark: `> 4 | await lab.query()` and a caret below it. */
export function codeFrame(
  code: string,
  place: { line: number; column: number },
  options: { length?: number; around?: number } = {},
): string[] {
  const lines = code.split("\n");
  const around = options.around ?? 2;
  const first = Math.max(1, place.line - around);
  const last = Math.min(lines.length, place.line + around);
  const width = String(last).length;
  const frame: string[] = [];
  for (let number = first; number <= last; number++) {
    const text = (lines[number - 1] ?? "").replaceAll("\t", " ");
    const gutter = String(number).padStart(width);
    if (number !== place.line) {
      frame.push(dim(`  ${gutter} | ${text}`));
      continue;
    }
    const room = Math.max(1, text.length - place.column + 1);
    const carets = "^".repeat(Math.min(options.length ?? 1, room));
    frame.push(`${bold(red(">"))} ${gutter} | ${text}`);
    frame.push(`  ${" ".repeat(width)} | ${" ".repeat(place.column - 1)}${bold(red(carets))}`);
  }
  return frame;
}
