import { join } from "node:path";
import { openWriter } from "../../src/database/writer.js";
import type { DatabaseAddress } from "../../src/database/address.js";
import { fillSample } from "../../src/sample/fill.js";
import { GENERATOR, sampleInfo } from "../../src/sample/tables.js";

/** The end of the benches' samples: the same rows every day. */
export const END = new Date("2026-07-01T00:00:00Z");

/** A sample of so many measurements in a directory of its own, kept for the next bench. */
export async function sampleDatabase(rows: number): Promise<DatabaseAddress> {
  const directory = join(process.cwd(), ".bench", "data", String(rows));
  const source: DatabaseAddress = { kind: "embedded", directory, label: `embedded:${rows}` };
  await using writer = await openWriter(source);
  const info = await sampleInfo(writer);
  if (info?.rows === rows && info.generator === GENERATOR) return source;
  console.error(`making ${rows.toLocaleString("en-US")} measurements …`);
  await fillSample(writer, { rows, end: END });
  return source;
}
