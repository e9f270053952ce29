import { expect, test } from "vitest";
import type { CellOutput } from "../../src/notebook/outputs.js";
import { progressLine } from "../../src/notebook/progress-line.js";
import type { QueryProgress } from "../../src/progress/query-progress.js";

const news = (id: string, state: QueryProgress["state"], rowsRead: number): QueryProgress => ({
  id,
  state,
  rowsRead,
  rowsInAll: 40_000_000,
  seconds: 2,
});

function shown(onlySummary: boolean, all: readonly QueryProgress[]) {
  const outputs: CellOutput[] = [];
  const listen = progressLine((output) => outputs.push(output), onlySummary);
  for (const one of all) listen(one);
  const displays = outputs.filter((output) => output.type === "display");
  return {
    ids: new Set(displays.map((display) => display.displayId)).size,
    updates: displays.map((display) => display.update),
    texts: displays.map((display) => display.bundle.data["text/plain"]),
  };
}

test("progressLine(sink) updates one display in place and ends with a summary", () => {
  const { ids, updates, texts } = shown(false, [
    news("a", "running", 12_300_000),
    news("b", "running", 100),
    news("a", "done", 40_000_000),
    news("b", "stopped", 200),
  ]);
  expect(ids).toBe(1);
  expect(updates).toEqual([false, true, true, true]);
  expect(texts).toEqual([
    "Reading: 12.3M of 40M rows (30 %), 6.15M rows/s, 2.0 s",
    "Reading: 12.3M of 40M rows (30 %), 6.15M rows/s, 2.0 s\nReading: 100 of 40M rows (0 %), 50 rows/s, 2.0 s",
    "1 query, 40M rows read in 2.0 s\nReading: 100 of 40M rows (0 %), 50 rows/s, 2.0 s",
    "2 queries, 40M rows read in 4.0 s, 1 stopped before the end",
  ]);
});

test("progressLine(sink, onlySummary) leaves out what runs", () => {
  const { texts } = shown(true, [news("a", "running", 1), news("a", "done", 2000)]);
  expect(texts).toEqual(["1 query, 2K rows read in 2.0 s"]);
});

test("progressLine(sink) says which part of a question runs", () => {
  const part = { ...news("a", "running", 12_300_000), part: { at: 3, of: 8 } };
  expect(shown(false, [part]).texts).toEqual([
    "Part 3 of 8, reading: 12.3M of 40M rows (30 %), 6.15M rows/s, 2.0 s",
  ]);
});
