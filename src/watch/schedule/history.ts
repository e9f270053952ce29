import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile, rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { remove, writeWhole } from "../../files/write-whole.js";

/** One run of a scheduled notebook. Times in ISO 8601, UTC. */
export interface Run {
  readonly id: string;
  readonly notebook: string;
  /** The start of the period that it is for. */
  readonly period: string;
  /** Periods that it stands for: more than one where some were missed. */
  readonly periods: number;
  readonly started: string;
  /** `interrupted`: cut off from outside, which is no fault of the notebook's. */
  readonly state: "running" | "ok" | "error" | "timeout" | "memory" | "died" | "interrupted";
  readonly seconds: number | null;
  /** Most resident memory of all of its processes together, in bytes. */
  readonly peakMemory: number | null;
  /** As `probelab run` exits. */
  readonly exit: number | null;
  readonly error: string | null;
  /** Rows that the database read for its questions. */
  readonly rowsRead: number | null;
  /** Its page, from the notebook's folder; null where there is none, or none any more. */
  readonly page: string | null;
}

/** The runs of a notebook, the newest first, and what can't be read of them. */
export interface History {
  readonly runs: readonly Run[];
  readonly damaged: readonly string[];
}

/** Runs that are remembered of a notebook. */
const MOST_RUNS = 5_000;
const OLDER = "history.jsonl";
const ID = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/;

/** The folder of a notebook in the schedule's: its name as far as any file system takes it, and a hash. */
export function folderOf(out: string, notebook: string): string {
  const hash = createHash("sha256").update(notebook).digest("hex").slice(0, 8);
  const plain = notebook.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[.-]+|-+$/g, "");
  return join(out, `${plain.slice(0, 60) || "notebook"}-${hash}`);
}

/** A new run's name: sorts by time. */
export function newId(started: Date): string {
  const time = started.toISOString().replace(/[-:]|\.\d+/g, "");
  return `${time}-${randomUUID().slice(0, 6)}`;
}

/** Writes what is known of a run, whole. @throws ProbelabError where it can't be written. */
export async function writeRun(folder: string, run: Run): Promise<void> {
  await writeWhole(join(folder, run.id, "run.json"), `${JSON.stringify(run, null, 1)}\n`);
}

/**
 * Reads a notebook's runs: a file each beside its outputs, and the older ones, whose outputs are
 * gone, a line each. What can't be read is told, and the rest is there.
 */
export async function readHistory(folder: string): Promise<History> {
  const names = await readdir(folder).catch((): string[] => []);
  const damaged: string[] = [];
  const runs = new Map<string, Run>();
  if (names.includes(OLDER)) {
    const [head = "", ...lines] = (await readText(join(folder, OLDER))).split("\n");
    const all = lines.filter((line) => line !== "").map(parsed);
    for (const run of all) if (run !== undefined) runs.set(run.id, run);
    const count = (json(head) as { runs?: number } | undefined)?.runs;
    const lost = Math.max(all.filter((run) => run === undefined).length, (count ?? 0) - runs.size);
    if (count === undefined || lost > 0) {
      const what = count === undefined ? "runs are" : lost === 1 ? "1 run is" : `${lost} runs are`;
      damaged.push(`${what} lost: ${OLDER} was cut or changed.`);
    }
  }
  for (const id of names.filter((name) => ID.test(name))) {
    const files = await readdir(join(folder, id)).catch((): string[] => []);
    const run = files.includes("run.json")
      ? parsed(await readText(join(folder, id, "run.json")))
      : undefined;
    if (run !== undefined) runs.set(id, run);
    else if (files.length > 0)
      damaged.push(`The run ${id} can't be read: its run.json is no record.`);
  }
  for (const name of names.filter((each) => each.endsWith(".damaged"))) {
    damaged.push(`${name} is what was left of a damaged history; remove it when it is of no use.`);
  }
  return { runs: [...runs.values()].sort((a, b) => (a.id < b.id ? 1 : -1)), damaged };
}

/**
 * Removes outputs beyond the newest `keep` and the last good run; their runs stay in the history.
 * Where this is cut off nothing is lost: a run is first written among the older ones.
 *
 * @throws ProbelabError where that can't be written.
 */
export async function retain(folder: string, { runs }: History, keep: number): Promise<void> {
  const good = runs.find(({ state }) => state === "ok")?.id;
  const folders = new Set((await readdir(folder).catch(() => [])).filter((name) => ID.test(name)));
  const old = runs.slice(keep).filter((run) => run.id !== good && run.state !== "running");
  const gone = old.filter(({ id }) => folders.has(id));
  if (gone.length === 0) return;
  const path = join(folder, OLDER);
  const { damaged } = await readHistory(folder);
  if (damaged.some((one) => one.includes(OLDER) && !one.includes(".damaged"))) {
    await rename(path, `${path}.${Date.now()}.damaged`);
  }
  const kept = old.slice(0, MOST_RUNS).map((run) => JSON.stringify({ ...run, page: null }));
  await writeWhole(path, [JSON.stringify({ runs: kept.length }), ...kept, ""].join("\n"));
  for (const { id } of gone) await remove(join(folder, id));
}

/** Whether a notebook fails: its last run did, or it was cut off twice in a row. */
export function isFailing(runs: readonly Run[]): boolean {
  const [last, before] = runs.filter(({ state }) => state !== "running");
  if (last === undefined || last.state === "ok") return false;
  return last.state !== "interrupted" || (before !== undefined && before.state !== "ok");
}

/** Pauses and resumes a notebook: a file that says so, also to the scheduler that runs. */
export const pauseFile = (folder: string): string => join(folder, "paused");

function parsed(text: string): Run | undefined {
  const run = json(text) as Run | undefined;
  const whole = typeof run?.id === "string" && ID.test(run.id) && typeof run.state === "string";
  const timed = whole && [run.period, run.started].every((at) => !Number.isNaN(Date.parse(at)));
  return timed && (run.page === null || isInside(run.page)) ? run : undefined;
}

/** A run's page lies in the run's own folder. */
function isInside(page: unknown): boolean {
  return typeof page === "string" && /^[^/]+\/[^/]+$/.test(page) && basename(page) !== "..";
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
