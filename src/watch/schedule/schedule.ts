import { readdir, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { checkOptions, type Rules } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { shownValue } from "../../base/text.js";
import { readNotebook, type Notebook } from "../../kernel/notebook-file.js";
import { bucketStart, checkBucket, nextBucket, type Bucket } from "../../time/bucket.js";
import { LENGTHS, readSpan } from "../../time/span.js";
import { usualLength } from "../../time/step.js";

/** A notebook's period and its limit. */
export interface Schedule {
  readonly every: Bucket;
  /** In milliseconds. */
  readonly timeout: number;
}

/** A notebook with a schedule, or with one that can't be read. */
export interface ScheduledNotebook {
  /** Its path in the folder, without `.ipynb`. */
  readonly name: string;
  readonly path: string;
  readonly schedule: Schedule | ProbelabError;
}

interface Comment {
  readonly every: string;
  readonly timeout: string;
}

const RULES: Rules<Comment> = {
  every: { fits: (value) => typeof value === "string", pass: 'a period, such as "30 minutes"' },
  timeout: {
    fits: (value) => timeOf(value) <= LENGTHS.day,
    pass: 'a time of up to a day, such as "10 minutes"',
  },
};
const EXAMPLE_COMMENT = '// schedule: { "every": "30 minutes", "timeout": "10 minutes" }';

/**
 * The schedule in a comment of a notebook's first code cell; undefined where it has none.
 *
 * @throws ProbelabError for a comment that can't be read.
 */
function scheduleOf({ cells }: Notebook): Schedule | undefined {
  const first = cells.find((cell) => cell.cell_type === "code");
  const line = first?.source.split("\n").find((each) => /^\s*\/\/\s*schedule:/.test(each));
  if (line === undefined) return undefined;
  const text = line.slice(line.indexOf(":") + 1).trim();
  let comment: Partial<Comment>;
  try {
    comment = JSON.parse(text) as Partial<Comment>;
  } catch {
    throw new ProbelabError(
      `Can't schedule by ${shownValue(text)}: it is no JSON. Write ${EXAMPLE_COMMENT}.`,
    );
  }
  checkOptions(comment, RULES, "schedule a notebook");
  const { every, timeout = "10 minutes" } = comment;
  if (every === undefined) {
    throw new ProbelabError(`Can't schedule a notebook without "every": write ${EXAMPLE_COMMENT}.`);
  }
  const period = checkBucket(every);
  if (usualLength(period) < LENGTHS.minute) {
    throw new ProbelabError(
      `Can't schedule every ${every}: the shortest period is a minute. Write ${EXAMPLE_COMMENT}.`,
    );
  }
  return { every: period, timeout: timeOf(timeout) };
}

function timeOf(value: unknown): number {
  const span = readSpan(value);
  return span === undefined ? Infinity : span.count * LENGTHS[span.unit];
}

/** The start of the period that an instant is in, and that of the next one; in UTC. */
export function periodAt(
  at: Date,
  { every }: Schedule,
): { readonly start: Date; readonly end: Date } {
  const start = bucketStart(at, every, "UTC");
  return { start, end: nextBucket(start, every, "UTC") };
}

/**
 * The notebooks of a folder and its subfolders that have a schedule, by name.
 *
 * @param out a folder that is left out: executed notebooks in it have the comment too.
 * @throws ProbelabError where the folder can't be read.
 */
export async function findScheduled(folder: string, out: string): Promise<ScheduledNotebook[]> {
  const found: ScheduledNotebook[] = [];
  for (const path of await notebooksIn(resolve(folder), resolve(out))) {
    const name = relative(resolve(folder), path).split(sep).join("/").slice(0, -".ipynb".length);
    try {
      const schedule = scheduleOf(await readNotebook(path));
      if (schedule !== undefined) found.push({ name, path, schedule });
    } catch (error) {
      if (!(error instanceof ProbelabError)) throw error;
      found.push({ name, path, schedule: error });
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function notebooksIn(folder: string, out: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: Error) => {
    throw new ProbelabError(
      `Can't read the folder ${folder}: ${cause.message}. Name the folder of the notebooks.`,
      { cause },
    );
  });
  const paths: string[] = [];
  for (const { name } of entries) {
    const path = join(folder, name);
    if (name.startsWith(".") || name === "node_modules" || path === out) continue;
    // Of a link what it leads to; reading a pipe would never end.
    const found = await stat(path).catch(() => undefined);
    const isLink = entries.some((entry) => entry.name === name && entry.isSymbolicLink());
    if (found?.isDirectory() === true && !isLink) paths.push(...(await notebooksIn(path, out)));
    if (found?.isFile() === true && name.endsWith(".ipynb")) paths.push(path);
  }
  return paths;
}
