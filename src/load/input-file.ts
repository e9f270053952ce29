import { mkdtemp, open, realpath, rm, stat, symlink, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ProbelabError } from "../base/error.js";
import { zstdState } from "./zstd-frames.js";

/** How rows are written in a file. */
type FileFormat = "jsonl" | "csv" | "tsv" | "parquet";

/** How a file is packed. */
type Compression = "none" | "gzip" | "zstd";

const FORMATS: Readonly<Record<string, FileFormat>> = {
  jsonl: "jsonl",
  ndjson: "jsonl",
  json: "jsonl",
  csv: "csv",
  tsv: "tsv",
  tab: "tsv",
  parquet: "parquet",
};
const COMPRESSIONS: Readonly<Record<string, "gzip" | "zstd">> = {
  gz: "gzip",
  gzip: "gzip",
  zst: "zstd",
  zstd: "zstd",
};

/**
 * The format and compression that a file's name tells: `week.csv.gz` is gzipped CSV.
 *
 * @param override a format (`jsonl`, `csv`, `tsv`, `parquet`), with `.gz` or `.zst` where it is
 *   packed; wins over the name. Without such an ending the name still tells the compression.
 * @throws ProbelabError when neither tells a format that can be read.
 * @example
 * fileFormat("week.csv.gz"); // { format: "csv", compression: "gzip" }
 */
export function fileFormat(
  path: string,
  override?: string,
): { format: FileFormat; compression: Compression } {
  const named = split(basename(path));
  if (override === undefined) {
    if (named.format !== undefined)
      return { format: named.format, compression: named.packed ?? "none" };
    throw new ProbelabError(
      `Can't tell the format of ${path} from its name: end it in .jsonl, .csv, .tsv or .parquet (packed: .gz or .zst), or name the format with --format.`,
    );
  }
  const wanted = split(`.${override.toLowerCase()}`);
  if (wanted.format === undefined) {
    throw new ProbelabError(
      `Can't read the format ${JSON.stringify(override)}: write jsonl, csv, tsv or parquet, with .gz or .zst where the file is packed, such as csv.gz.`,
    );
  }
  return { format: wanted.format, compression: wanted.packed ?? named.packed ?? "none" };
}

function split(name: string): { format: FileFormat | undefined; packed: Compression | undefined } {
  const endings = name.toLowerCase().split(".").slice(1);
  const packed = COMPRESSIONS[endings.at(-1) ?? ""];
  return { format: FORMATS[endings.at(packed === undefined ? -1 : -2) ?? ""], packed };
}

/** A file that can be loaded: there, readable, not empty, and packed as its name says. */
export interface InputFile extends AsyncDisposable {
  /** As the user named it, for messages. */
  readonly name: string;
  /** Absolute; free of what the engine would take for a pattern. */
  readonly path: string;
  readonly bytes: number;
  readonly format: FileFormat;
  readonly compression: Compression;
  /** @throws ProbelabError when the file is no longer the one that was opened. */
  checkUnchanged(): Promise<void>;
}

/**
 * Opens a file for loading.
 *
 * @throws ProbelabError for a missing or unreadable file, a directory, a pipe, an empty file, a
 *   name that tells no format, UTF-16, and an archive that is cut or not what its name says.
 */
export async function openInputFile(name: string, override?: string): Promise<InputFile> {
  const { format, compression, bytes, modified } = await check(name, override);
  const real = await realpath(name);
  // The engine's file() takes *, ?, {…} and :: in a path for patterns and knows no way to quote them.
  const aside = /[*?{}[\]\\]|::/.test(real)
    ? await mkdtemp(join(tmpdir(), "probelab-load-"))
    : null;
  const path = aside === null ? real : join(aside, "file");
  if (aside !== null) await symlink(real, path);
  return {
    name,
    path,
    bytes,
    format,
    compression,
    async checkUnchanged() {
      const now = await stat(real).catch(() => null);
      if (now?.size === bytes && now.mtimeMs === modified) return;
      throw new ProbelabError(
        `Can't load ${name}: it changed while it was read. Load it again once nothing writes to it.`,
      );
    },
    async [Symbol.asyncDispose]() {
      if (aside !== null) await rm(aside, { recursive: true, force: true });
    },
  };
}

async function check(name: string, override: string | undefined) {
  const refuse = (why: string, cause?: unknown) =>
    new ProbelabError(`Can't load ${name}: ${why}.`, { cause });
  const unreadable = (cause: unknown): never => {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") throw refuse("there is no such file. Check the path", cause);
    if (code === "EACCES") {
      const allow = `Allow it with: chmod u+r ${JSON.stringify(name)}`;
      throw refuse(`you may not read it. ${allow}`, cause);
    }
    throw refuse(`it can't be read (${code}). Check the disk it is on`, cause);
  };
  const status = await stat(name).catch(unreadable);
  if (status.isDirectory()) {
    const within = `${name.replace(/\/+$/, "")}/*.jsonl`;
    throw refuse(`it is a directory. Name the files in it, such as ${within}`);
  }
  if (!status.isFile()) {
    throw refuse(
      "it is a pipe or a device, and loading reads a file more than once. Write its content into a file first",
    );
  }
  const told = fileFormat(name, override);
  const { size: bytes, mtimeMs: modified } = status;
  if (bytes === 0) throw refuse("the file is empty. Check how it was made");
  await using file = await open(name, "r").catch(unreadable);
  await checkContent(file, name, bytes, told);
  return { ...told, bytes, modified };
}

const MAGIC = { gzip: "1f8b", zstd: "28b52ffd", parquet: "50415231" };
const ENDINGS = { gzip: "gz", zstd: "zst" };

/** Refuses what is not what its name says, and what is cut where the engine wouldn't notice. */
async function checkContent(
  file: FileHandle,
  name: string,
  bytes: number,
  { format, compression }: { format: FileFormat; compression: Compression },
): Promise<void> {
  const hexAt = async (position: number): Promise<string> => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, position);
    return buffer.subarray(0, bytesRead).toString("hex");
  };
  const head = await hexAt(0);
  if (compression !== "none") {
    if (!head.startsWith(MAGIC[compression].slice(0, 2 * bytes))) {
      throw new ProbelabError(
        `Can't load ${name}: it is not a ${compression} file, though its name says so. Rename it without that ending, or pack it again.`,
      );
    }
    const state = compression === "zstd" ? await zstdState(file, bytes) : "whole";
    if (state === "cut") throw cutFile(name, "the zstd archive ends before its last frame does");
    if (state === "damaged") throw damagedArchive(name, compression);
    return;
  }
  for (const packed of ["gzip", "zstd"] as const) {
    if (!head.startsWith(MAGIC[packed])) continue;
    throw new ProbelabError(
      `Can't load ${name}: it is packed with ${packed}. Say so with --format ${format}.${ENDINGS[packed]}, or end its name in .${ENDINGS[packed]}.`,
    );
  }
  const isParquet = head === MAGIC.parquet;
  if (isParquet !== (format === "parquet")) {
    throw new ProbelabError(
      isParquet
        ? `Can't load ${name} as ${format}: it is a Parquet file. Say so with --format parquet.`
        : `Can't load ${name}: it is not a Parquet file. Name its format, such as --format csv.`,
    );
  }
  if (isParquet && (bytes < 12 || (await hexAt(bytes - 4)) !== MAGIC.parquet)) {
    throw cutFile(name, "the Parquet file ends before its footer does");
  }
  if (/^(fffe|feff)/.test(head)) {
    throw new ProbelabError(
      `Can't load ${name}: its text is UTF-16. Convert it first: iconv -f UTF-16 -t UTF-8 FILE > NEW.`,
    );
  }
}

/** The error for a file that ends too early. */
export function cutFile(name: string, how: string): ProbelabError {
  return new ProbelabError(
    `Can't load ${name}: the file is cut, ${how}. Get the whole file and load it again.`,
  );
}

/** The error for an archive whose content is not what was packed. */
export function damagedArchive(name: string, compression: Compression): ProbelabError {
  return new ProbelabError(
    `Can't load ${name}: the ${compression} archive is damaged. Get the file again.`,
  );
}
