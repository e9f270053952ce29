import { createHash } from "node:crypto";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { lazySchemas } from "../../base/lazy-schemas.js";
import { readPlain } from "../../files/read-plain.js";
import { remove, writeWhole } from "../../files/write-whole.js";

export const STATES = [
  ...["running", "ok", "error", "timeout", "memory", "died"],
  "interrupted",
] as const;

/** A run of a notebook, as `run.json` in a folder of its own keeps it. */
export interface Run {
  /** The name of its folder: when it started, and something that no other run has. */
  readonly id: string;
  /** The notebook's name. */
  readonly notebook: string;
  /** The start of the period that it is for. */
  readonly period: Date;
  readonly started: Date;
  /** `interrupted`: the scheduler or its machine ended first. */
  readonly state: (typeof STATES)[number];
  readonly seconds: number | null;
  /** Most resident memory of its processes together, in bytes. */
  readonly peakMemory: number | null;
  readonly rowsRead: number | null;
  /** Why it failed. */
  readonly error: string | null;
  /** The file name of its page, beside `run.json`. */
  readonly page: string | null;
}

const ID = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;

const schemas = lazySchemas(({ z }) => {
  const amount = z.number().nonnegative().nullable();
  const run = z.object({
    id: z.string().regex(ID),
    notebook: z.string(),
    period: z.iso.datetime(),
    started: z.iso.datetime(),
    state: z.enum(STATES),
    seconds: amount,
    peakMemory: amount,
    rowsRead: amount,
    error: z.string().nullable(),
    // A file beside it, and no path that leads elsewhere.
    page: z
      .string()
      .regex(/^[^/\\]+\.html$/)
      .nullable(),
  });
  return { run };
});

/** The folder of a notebook's runs: readable, of few characters, and no other notebook's. */
export function folderOf(out: string, name: string): string {
  const readable = name.replace(/[^A-Za-z0-9_]+/g, "-").slice(0, 60);
  return join(out, `${readable}-${createHash("sha256").update(name).digest("hex").slice(0, 8)}`);
}

export function newId(at: Date, random: string): string {
  return `${at.toISOString().replace(/[-:]|\.\d+/g, "")}-${random}`;
}

/** The runs of a notebook, the newest first; one whose file can't be read is none. */
export async function readHistory(folder: string): Promise<Run[]> {
  const names = await readdir(folder).catch((): string[] => []);
  const ids = names.filter((name) => ID.test(name)).sort();
  const runs = await Promise.all(
    ids.reverse().map(async (id): Promise<Run[]> => {
      try {
        const text = await readPlain(join(folder, id, "run.json"));
        const { period, started, ...rest } = schemas().run.parse(JSON.parse(text!));
        return [{ ...rest, id, period: new Date(period), started: new Date(started) }];
      } catch {
        return [];
      }
    }),
  );
  return runs.flat();
}

/** @throws ProbelabError where it can't be written. */
export async function writeRun(folder: string, run: Run): Promise<void> {
  await writeWhole(join(folder, run.id, "run.json"), `${JSON.stringify(run, null, 2)}\n`);
}

/** Removes all but the last runs, so many and of so many bytes; the newest and the last good one stay. */
export async function removeOld(folder: string, keep: number, keepBytes: number): Promise<void> {
  const runs = await readHistory(folder);
  const good = runs.find(({ state }) => state === "ok");
  let bytes = 0;
  for (const [at, run] of runs.entries()) {
    const path = join(folder, run.id);
    bytes += await sizeOf(path);
    const isKept = at < keep && bytes <= keepBytes;
    if (at > 0 && !isKept && run !== good) await remove(path);
  }
}

async function sizeOf(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  const sizes = files.map(async (file) => (await lstat(join(folder, file))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** The folders of notebooks' runs in the folder of all runs. */
export async function notebookFolders(out: string): Promise<string[]> {
  const names = await readdir(out).catch((): string[] => []);
  return names.filter((name) => /-[0-9a-f]{8}$/.test(name)).map((name) => join(out, name));
}
