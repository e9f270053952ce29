import { mapTexts } from "../base/text.js";
import type { ColumnTable } from "arquero";
import type * as Zod from "zod";
import { ProbelabError } from "../base/error.js";
import { lazySchemas } from "../base/lazy-schemas.js";
import { redact } from "../base/redact.js";
import { redactedJson } from "../render/origin.js";
import { columnValues } from "../result/arquero-table.js";
import { fromTaggedJson, toTaggedJson } from "../result/json.js";
import type { Origin } from "../result/origin.js";
import { Result, type Value } from "../result/result.js";
import { between } from "../time/time-range.js";

/** Columns in order. */
export type Columns = readonly (readonly [name: string, values: readonly Value[]])[];

/** A table's columns. */
export function columnsOf(table: ColumnTable): Columns {
  return table.columnNames().map((name) => [name, columnValues(table, name)] as const);
}

/**
 * A Result as text without secrets: its rows, where they come from, what its columns mean, and the
 * database's own answer.
 */
export function resultText({ table, origin }: Result): string {
  const { range, answer, parameters, ...rest } = origin;
  const span = range && [range.start, range.end, range.timeZone];
  const texts = {
    rows: columnsOf(table),
    origin: rest,
    ...(answer && { answer: { sql: answer.sql, rows: columnsOf(answer.table) } }),
  };
  return `${toTaggedJson({
    ...mapTexts(texts, redact),
    parameters: redactedJson(parameters),
    ...(span && { span }),
  })}\n`;
}

/** Reads columns as `columnsOf` gives them. */
export const columnSchema = (z: typeof Zod.z) =>
  z.array(z.tuple([z.string(), z.array(z.custom<Value>())]));

const schema = lazySchemas(({ z }) => {
  const columns = columnSchema(z);
  const named = z.array(z.looseObject({ name: z.string() }));
  return z.object({
    rows: columns,
    parameters: z.record(z.string(), z.unknown()),
    origin: z.looseObject({
      sql: z.string(),
      source: z.string(),
      askedAt: z.date(),
      columns: z.looseObject({ dimensions: named, measures: named }),
      reductions: z.array(z.string()),
      notes: z.array(z.string()),
    }),
    span: z.tuple([z.date(), z.date(), z.string()]).optional(),
    answer: z.object({ sql: z.string(), rows: columns }).optional(),
  });
});

/** The Result of such a text. @throws ProbelabError for another text. */
export async function readResultText(text: string): Promise<Result> {
  const aq = await import("arquero");
  const tableOf = (columns: [string, Value[]][]) => aq.table(columns);
  try {
    const { rows, parameters, origin, span, answer } = schema().parse(fromTaggedJson(text));
    return new Result(tableOf(rows), {
      ...(origin as object as Origin),
      parameters,
      ...(span && { range: between(span[0], span[1], { timeZone: span[2] }) }),
      ...(answer && { answer: { sql: answer.sql, table: tableOf(answer.rows) } }),
    });
  } catch (error) {
    throw new ProbelabError(
      "Can't read the rows of a figure: this probelab does not write such a file.",
      { cause: error },
    );
  }
}
