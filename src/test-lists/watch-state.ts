import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ProbelabError } from "../base/error.js";

/** One poll of one country; `churn` is null where it failed or there was nothing to compare with. */
export interface Poll {
  readonly at: string;
  readonly country: string;
  /** Percent, 0 to 100. */
  readonly churn: number | null;
  /** Why there is no number. */
  readonly why?: string | undefined;
}

/** What a watch remembers over its restarts; times in ISO 8601, UTC. */
export interface WatchState {
  readonly version: 1;
  readonly baseUrl: string;
  /** The first 100 URLs of the last good poll, by country. */
  readonly lists: Readonly<
    Record<string, { readonly at: string; readonly urls: readonly string[] }>
  >;
  /** The polls of the last day, oldest first. */
  readonly polls: readonly Poll[];
}

/** The state before the first poll. */
export function newState(baseUrl: string): WatchState {
  return { version: 1, baseUrl, lists: {}, polls: [] };
}

/**
 * Reads a watch's state; a new one where there is no file.
 *
 * @throws ProbelabError where the file is no such state, or of a watch of another API.
 */
export async function readState(path: string, baseUrl: string): Promise<WatchState> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new ProbelabError(
      `Can't read the state of the watch in ${path}: ${error.message}. Name another file with --state.`,
      { cause: error },
    );
  });
  if (text === null) return newState(baseUrl);
  const { z } = await import("zod");
  const schema = z.object({
    version: z.literal(1),
    baseUrl: z.string(),
    lists: z.record(z.string(), z.object({ at: z.iso.datetime(), urls: z.array(z.string()) })),
    polls: z.array(
      z.object({
        at: z.iso.datetime(),
        country: z.string(),
        churn: z.number().nullable(),
        why: z.string().optional(),
      }),
    ),
  });
  const { success, data } = schema.safeParse(parse(text));
  if (!success) {
    throw new ProbelabError(
      `Can't read the state of the watch in ${path}: it is no such state. Name another file with --state, or remove it to start anew.`,
    );
  }
  if (data.baseUrl !== baseUrl) {
    throw new ProbelabError(
      `Can't go on with the state in ${path}: it belongs to a watch of ${data.baseUrl}, not of ${baseUrl}. Name another file with --state.`,
    );
  }
  return data;
}

/** Writes the state whole or not at all: whoever reads the file finds the old or the new one. */
export async function writeState(path: string, state: WatchState): Promise<void> {
  const aside = `${resolve(path)}.${process.pid}-${randomBytes(4).toString("hex")}`;
  try {
    await mkdir(dirname(aside), { recursive: true });
    const file = await open(aside, "wx");
    try {
      await file.writeFile(`${JSON.stringify(state)}\n`);
      // Else a power cut could leave the new name with nothing in it.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(aside, path);
  } catch (cause) {
    await rm(aside, { force: true });
    throw new ProbelabError(
      `Can't write the state of the watch to ${path}: ${(cause as Error).message}. Name another file with --state.`,
      { cause },
    );
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
