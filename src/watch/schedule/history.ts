import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { lazySchemas } from "../../base/lazy-schemas.js";
import { readPlain } from "../../base/files/read-plain.js";
import { remove, writeWhole } from "../../base/files/write-whole.js";

import { MINUTE } from "../../time/span.js";

const ID = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;

const schema = lazySchemas(({ z }) => {
  const amount = z.number().nonnegative().nullable();
  const time = z.iso.datetime().transform((text) => new Date(text));
  return z.object({
    /** The name of its folder: when it started, and something that no other run has. */
    id: z.string().regex(ID),
    /** The notebook's name. */
    notebook: z.string(),
    /** The start of the period that it is for. */
    period: time,
    started: time,
    /** `interrupted`: the scheduler or its machine ended first. */
    state: z.enum(["running", "ok", "error", "timeout", "died", "interrupted"]),
    seconds: amount,
    rowsRead: amount,
    /** Why it failed. */
    error: z.string().nullable(),
    /** The file name of its page, beside `run.json`, and no path that leads elsewhere. */
    page: z
      .string()
      .regex(/^[^/\\]+\.html$/)
      .nullable(),
  });
});

/** A run of a notebook, as `run.json` in a folder of its own keeps it. */
export type Run = Readonly<ReturnType<ReturnType<typeof schema>["parse"]>>;

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
        return [{ ...schema().parse(JSON.parse(text!)), id }];
      } catch {
        return [];
      }
    }),
  );
  return runs.flat();
}

/** True for a run that a clock ahead recorded: it tells nothing of the present. */
export function isAhead({ started }: Run, now: Date): boolean {
  return +started > +now + MINUTE;
}

/** @throws ProbelabError where it can't be written. */
export async function writeRun(folder: string, run: Run): Promise<void> {
  await writeWhole(join(folder, run.id, "run.json"), `${JSON.stringify(run, null, 2)}\n`);
}

/** Removes all but the last runs; the last good one stays. */
export async function removeOld(folder: string, keep: number): Promise<void> {
  const now = new Date();
  const runs = (await readHistory(folder)).filter((run) => !isAhead(run, now));
  const good = runs.find(({ state }) => state === "ok");
  const old = runs.slice(keep).filter((run) => run !== good);
  for (const { id } of old) await remove(join(folder, id));
}
