import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { checkOptions, type Rules } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { shownValue, textOf } from "../../base/text.js";
import { trackPending } from "../../base/pending-work.js";
import { writeWhole } from "../../base/files/write-whole.js";
import type { Value } from "../../result/result.js";
import { formatInstantIso } from "./label.js";

/** The rows that a chart draws or a table shows, as they came from the question. */
export interface ChartRows {
  readonly names: readonly string[];
  readonly rows: readonly (readonly Value[])[];
}

/** The content of a file by its extension. */
type Formats = Readonly<Record<string, () => string | Buffer | Promise<string | Buffer>>>;

/** Options of `save`. */
export interface SaveOptions {
  /** Begins a CSV with a byte order mark, by which Excel knows UTF-8. @default {false} */
  readonly bom?: boolean;
}

const SAVE_RULES: Rules<SaveOptions> = {
  bom: { fits: (value) => typeof value === "boolean", pass: "true or false" },
};

/** Writes what a path's extension says, whole or not at all; gives the absolute path. */
export async function saveAs(
  what: string,
  target: unknown,
  formats: Formats,
  options: SaveOptions = {},
): Promise<string> {
  checkOptions(options, SAVE_RULES, `save a ${what}`);
  let path = target;
  try {
    if (target instanceof URL) path = fileURLToPath(target);
  } catch {
    path = target; // of another machine, or no file
  }
  if (typeof path !== "string") {
    throw new ProbelabError(
      `Can't save a ${what} as ${path instanceof URL ? JSON.stringify(path.href) : shownValue(path)}: pass a path, ${what}.save("out/${what}${Object.keys(formats)[0]}").`,
    );
  }
  const extension = extname(path).toLowerCase();
  const content = Object.hasOwn(formats, extension) ? formats[extension] : undefined;
  if (content === undefined) {
    throw new ProbelabError(
      `Can't save a ${what} as ${JSON.stringify(path)}: end the path with ${Object.keys(formats).join(", ")}.`,
    );
  }
  if (options.bom === true && extension !== ".csv") {
    throw new ProbelabError(
      `Can't save a ${what} as ${extension} with bom: only a .csv has a byte order mark; leave bom out.`,
    );
  }
  return trackPending(async () => {
    const made = await content();
    return writeWhole(path, options.bom === true ? `\ufeff${String(made)}` : made);
  });
}

/**
 * Rows as CSV (RFC 4180, UTF-8): times in ISO 8601 UTC, nothing for null, JSON for arrays and
 * objects. Text that a spreadsheet would run as a formula (it begins with = + - @, tab or carriage
 * return) gets a ' before it.
 */
export function csv(names: readonly string[], rows: ChartRows["rows"]): string {
  return [names, ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

function csvCell(value: Value): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? "" : formatInstantIso(value.getTime());
  }
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  const text = textOf(value);
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** Rows as Parquet, typed, with the origin and the title in `probelab.origin` and `probelab.title`. */
export async function titledParquet(
  { names, rows }: ChartRows,
  origin: string,
  title: string,
): Promise<Buffer> {
  // Loaded when it is needed: every kernel would wait for it at its start.
  const { parquet } = await import("../../result/parquet.js");
  return parquet(names, rows, {
    "probelab.origin": origin,
    ...(title !== "" && { "probelab.title": title }),
  });
}
