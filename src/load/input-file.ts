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

const COMPRESSIONS: Readonly<Record<string, Compression>> = {
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
  const status = await stat(name).catch((cause: unknown) => {
    throw refused(name, cause);
  });
  if (status.isDirectory()) {
    throw new ProbelabError(
      `Can't load ${name}: it is a directory. Name the files in it, such as ${name.replace(/\/+$/, "")}/*.jsonl.`,
    );
  }
  if (!status.isFile()) {
    throw new ProbelabError(
      `Can't load ${name}: it is a pipe or a device, and loading reads a file more than once. Write its content into a file first.`,
    );
  }
  const told = fileFormat(name, override);
  const bytes = status.size;
  if (bytes === 0)
    throw new ProbelabError(`Can't load ${name}: the file is empty. Check how it was made.`);
  const file = await open(name, "r").catch((cause: unknown) => {
    throw refused(name, cause);
  });
  try {
    await checkContent(file, name, bytes, told);
    return { ...told, bytes, modified: status.mtimeMs };
  } finally {
    await file.close();
  }
}

const MAGIC = { gzip: "1f8b", zstd: "28b52ffd" };

async function checkContent(
  file: FileHandle,
  name: string,
  bytes: number,
  { format, compression }: { format: FileFormat; compression: Compression },
): Promise<void> {
  const head = Buffer.alloc(4);
  await file.read(head, 0, 4, 0);
  const hex = head.toString("hex");
  if (compression !== "none") {
    if (!hex.startsWith(MAGIC[compression].slice(0, 2 * bytes))) {
      throw new ProbelabError(
        `Can't load ${name}: it is not a ${compression} file, though its name says so. Rename it without that ending, or pack it again.`,
      );
    }
    if (compression === "zstd") {
      const state = await zstdState(file, bytes);
      if (state === "cut") throw cutFile(name, "the zstd archive ends before its last frame does");
      if (state === "damaged") throw damagedArchive(name, compression);
    }
    return;
  }
  for (const [packed, ending] of [
    ["gzip", "gz"],
    ["zstd", "zst"],
  ] as const) {
    if (!hex.startsWith(MAGIC[packed])) continue;
    throw new ProbelabError(
      `Can't load ${name}: it is packed with ${packed}. Say so with --format ${format}.${ending}, or end its name in .${ending}.`,
    );
  }
  if (format === "parquet") await checkParquet(file, name, bytes, head);
  else if (head.subarray(0, 4).toString("latin1") === "PAR1") {
    throw new ProbelabError(
      `Can't load ${name} as ${format}: it is a Parquet file. Say so with --format parquet.`,
    );
  } else if (/^(fffe|feff)/.test(hex)) {
    throw new ProbelabError(
      `Can't load ${name}: its text is UTF-16. Convert it first: iconv -f UTF-16 -t UTF-8 FILE > NEW.`,
    );
  }
}

async function checkParquet(
  file: FileHandle,
  name: string,
  bytes: number,
  head: Buffer,
): Promise<void> {
  if (head.toString("latin1") !== "PAR1") {
    throw new ProbelabError(
      `Can't load ${name}: it is not a Parquet file. Name its format, such as --format csv.`,
    );
  }
  const tail = Buffer.alloc(4);
  await file.read(tail, 0, 4, Math.max(0, bytes - 4));
  if (bytes < 12 || tail.toString("latin1") !== "PAR1") {
    throw cutFile(name, "the Parquet file ends before its footer does");
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

function refused(name: string, cause: unknown): ProbelabError {
  const { code } = cause as NodeJS.ErrnoException;
  const says: Record<string, string> = {
    ENOENT: "there is no such file. Check the path",
    EACCES: `you may not read it. Allow it with: chmod u+r ${JSON.stringify(name)}`,
  };
  return new ProbelabError(
    `Can't load ${name}: ${says[code ?? ""] ?? `it can't be read (${code}). Check the disk it is on`}.`,
    { cause },
  );
}
