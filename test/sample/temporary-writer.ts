import { newDatabase } from "../support/own-database.js";
import type { Writer } from "../../src/database/writer.js";

/** An empty database's writer; its end drops the database. */
export async function temporaryWriter(): Promise<Writer> {
  return (await newDatabase()).writer;
}

/** The one row that a query gives, its values as numbers. */
export async function numbers(writer: Writer, sql: string): Promise<Record<string, number>> {
  const [row] = await writer.rows<Record<string, unknown>>(sql);
  return Object.fromEntries(Object.entries(row ?? {}).map(([key, value]) => [key, Number(value)]));
}

/** A sum over all rows of a table that no order of rows, but any other row, changes. */
export async function contents(writer: Writer, table: string, columns = "*"): Promise<string> {
  const [row] = await writer.rows<{ sum: string }>(
    `SELECT concat(toString(count()), ' ', toString(sum(cityHash64(${columns})))) AS sum FROM ${table}`,
  );
  return row?.sum ?? "";
}
