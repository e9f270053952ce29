import { z } from "zod";
import { originRecord } from "../../../render/origin/origin-record.js";
import { ProbelabError } from "../../../base/error.js";
import type { Json } from "../../../result/json.js";
import type { Origin } from "../../../result/origin.js";
import { readParquet } from "../../../result/parquet-read.js";
import { parquet } from "../../../result/parquet-write.js";
import { Result, type Value } from "../../../result/result.js";
import type { Bucket } from "../../../time/bucket.js";
import { readSpan } from "../../../time/span.js";
import { bucketName } from "../../../time/step.js";
import { between } from "../../../time/time-range.js";
import { drawFigure, type Figure } from "../figure.js";
import type { FigureRecord } from "../record.js";

const ORIGIN = "probelab.origin";
const MEANING = "probelab.meaning";

const time = z.iso.datetime().transform((text) => new Date(text));
const json = z.custom<Json>();
const bucket = z.custom<Bucket>((every) => {
  const span = readSpan(every);
  return span !== undefined && bucketName(span) === every;
});

const storedOrigin = z.object({
  sql: z.string(),
  parameters: z.record(z.string(), json),
  range: z
    .object({ start: z.iso.datetime(), end: z.iso.datetime(), timeZone: z.string() })
    .transform(({ start, end, timeZone }) => between(start, end, { timeZone }))
    .exactOptional(),
  filter: z.string().exactOptional(),
  source: z.string(),
  server: z.string(),
  rowsRead: z.number(),
  bytesRead: z.number(),
  seconds: z.number(),
  askedAt: time,
  reductions: z.array(z.string()),
  notes: z.array(z.string()),
});

const storedColumns = z.object({
  time: z.object({ name: z.string(), every: bucket, incomplete: z.array(time) }).exactOptional(),
  dimensions: z.array(
    z.object({
      name: z.string(),
      order: z.array(z.string().nullable()),
      other: z.string().exactOptional(),
    }),
  ),
  measures: z.array(
    z.object({
      name: z.string(),
      label: z.string(),
      unit: z.string(),
      additive: z.boolean(),
      main: z.literal(true).exactOptional(),
      missing: z.enum(["zero", "gap"]),
    }),
  ),
  kinds: z.record(z.string(), z.enum(["time", "number", "text"])).exactOptional(),
});

/** A Result as a Parquet file: its rows, its origin without credentials, what its columns mean. */
export function resultFile({ table, origin }: Result): Buffer {
  const getters = table.columnNames().map((name) => table.getter(name));
  const rows = Array.from({ length: table.numRows() }, (_, row) =>
    getters.map((get) => get(row) as Value),
  );
  return parquet(table.columnNames(), rows, {
    [ORIGIN]: JSON.stringify(originRecord(origin)),
    [MEANING]: JSON.stringify(origin.columns),
  });
}

/** The figure of its record and that file. @throws ProbelabError where the file isn't one. */
export async function readFigure(record: FigureRecord, bytes: Uint8Array): Promise<Figure> {
  return drawFigure(record, await readResultFile(bytes));
}

/** The Result of such a file. @throws ProbelabError for another file. */
export async function readResultFile(bytes: Uint8Array): Promise<Result> {
  const { names, rows, metadata } = await readParquet(bytes);
  const aq = await import("arquero");
  const columns = names.map((name, at) => [name, rows.map((row) => row[at])] as const);
  try {
    const origin: Origin = {
      ...storedOrigin.parse(JSON.parse(metadata[ORIGIN] ?? "null")),
      columns: storedColumns.parse(JSON.parse(metadata[MEANING] ?? "null")),
    };
    return new Result(aq.table(columns as [string, unknown[]][], [...names]), origin);
  } catch (error) {
    if (error instanceof ProbelabError) throw error;
    throw new ProbelabError(
      "Can't read where the rows of this Parquet file come from: probelab didn't write it, or another tool wrote it again; use the file of the postmortem's own data/ folder.",
      { cause: error },
    );
  }
}
