import { createReadStream } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename } from "node:path";
import { createGunzip } from "node:zlib";
import { ProbelabError } from "../../base/error.js";

const FORMATS = {
  jsonl: "JSONEachRow",
  ndjson: "JSONEachRow",
  json: "JSONEachRow",
  csv: "CSVWithNames",
  tsv: "TSVWithNames",
  parquet: "Parquet",
} as const;

/** A file that can be loaded: there, whole, and packed as its name says. */
export interface InputFile {
  /** As the user named it, for messages. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** The engine's name of the format. */
  readonly format: (typeof FORMATS)[keyof typeof FORMATS];
  readonly compression: "none" | "gzip";
  /** @throws ProbelabError if the file changed since it was opened. */
  checkUnchanged(): Promise<void>;
}

/** The error for a file that can't be loaded. */
export function refusal(name: string, why: string, cause?: unknown): ProbelabError {
  return new ProbelabError(`Can't load ${name}: ${why}.`, { cause });
}

/**
 * Opens a file for loading and reads it once, to see that it is whole.
 *
 * @param format `jsonl`, `csv`, `tsv` or `parquet`, with `.gz` if packed; default: from the name.
 * @throws ProbelabError for a file that is missing, empty, cut, damaged, not regular, or of an
 *   unknown format.
 */
export async function openInputFile(name: string, format?: string): Promise<InputFile> {
  const status = await stat(name).catch((cause: NodeJS.ErrnoException) => {
    throw refusal(name, `it can't be read (${cause.code}). Check the path and its rights`, cause);
  });
  if (!status.isFile()) {
    throw refusal(name, "it is no regular file. Name files, such as DIR/*.jsonl");
  }
  const given = format === undefined ? basename(name) : `.${format}`;
  const endings = given.toLowerCase().split(".").slice(1);
  const compression = endings.at(-1) === "gz" ? "gzip" : "none";
  const extension = endings.at(compression === "gzip" ? -2 : -1) ?? "";
  if (/^zstd?$/.test(extension)) {
    throw refusal(name, "zstd isn't read. Unpack it first: zstd -d FILE");
  }
  if (!Object.hasOwn(FORMATS, extension)) {
    throw refusal(
      name,
      `${JSON.stringify(format ?? basename(name))} names no known format. Say --format jsonl, csv, tsv or parquet, with .gz if the file is packed`,
    );
  }
  const why = await damageOf(name, extension, compression === "gzip");
  if (why !== undefined) throw refusal(name, why);
  const real = await realpath(name);
  // The engine's file() takes these for patterns and knows no quotes.
  if (/[*?{}[\]\\]|::/.test(real)) {
    throw refusal(name, `its path ${real} holds one of * ? { } [ ] \\ ::. Rename it`);
  }
  return {
    name,
    path: real,
    format: FORMATS[extension as keyof typeof FORMATS],
    compression,
    async checkUnchanged() {
      const now = await stat(real).catch(() => undefined);
      if (now?.size === status.size && now.mtimeMs === status.mtimeMs) return;
      throw refusal(name, "it changed while it was read. Load it again once nothing writes to it");
    },
  };
}

/**
 * Why a file isn't whole, or not what its name says. It is read once, unpacked: the engine takes a
 * CSV row that is cut in its last value for a whole one, and reads plain text out of a gzip file as
 * if it were rows.
 */
async function damageOf(
  name: string,
  extension: string,
  isPacked: boolean,
): Promise<string | undefined> {
  let [head, last] = ["", ""];
  let [bytes, quotes] = [0, 0];
  const isParquet = extension === "parquet";
  const file = createReadStream(name, { highWaterMark: 2 ** 18 });
  const content = isPacked
    ? file.on("error", (error) => content.destroy(error)).pipe(createGunzip())
    : file;
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      if (bytes === 0) head = chunk.subarray(0, 4).toString("latin1");
      bytes += chunk.length;
      if (extension === "csv") for (const byte of chunk) if (byte === 34) quotes += 1;
      last = (last + chunk.subarray(-4).toString("latin1")).slice(-4);
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === "Z_BUF_ERROR" ? "the gzip file is cut" : `it can't be read (${message})`;
    return `${why}. Get the file again`;
  } finally {
    file.destroy();
  }
  if (bytes === 0) return "there are no rows in it. Check how it was made";
  if (head.startsWith("\x1f\x8b")) return `it is packed with gzip. Say --format ${extension}.gz`;
  if (isParquet && head !== "PAR1") return "it is not a Parquet file. Say --format";
  if (isParquet) {
    const isWhole = last === "PAR1" && bytes >= 12;
    return isWhole ? undefined : "it is cut: the footer is missing. Get the file again";
  }
  if (head === "PAR1") return "it is a Parquet file. Say --format parquet";
  if (/^(\xff\xfe|\xfe\xff)/.test(head)) {
    return "its text is UTF-16. Convert it first: iconv -f UTF-16 -t UTF-8 FILE";
  }
  if (quotes % 2 === 1) {
    // The engine would read on to the end of the file for the other quote.
    return "it has an odd number of quotes, so a quoted value isn't closed. Correct it";
  }
  const isJson = FORMATS[extension as keyof typeof FORMATS] === "JSONEachRow";
  if (last.endsWith("\n") || (isJson && /[}\]]\s*$/.test(last))) return undefined;
  return `it ends without a line break, so it may be cut in its last row. Get the whole file${isJson ? "" : ", or where it is whole add the line break: echo >> FILE"}`;
}
