import { mkdirSync, writeFileSync } from "node:fs";

/** Prints a bench's table and writes its metrics to bench/results/NAME.json. */
export function report(
  name: string,
  rows: readonly Record<string, string | number>[],
  metrics: Readonly<Record<string, number>>,
): void {
  console.table(rows);
  console.log(metrics);
  mkdirSync("bench/results", { recursive: true });
  writeFileSync(`bench/results/${name}.json`, `${JSON.stringify({ metrics }, null, 2)}\n`);
}
