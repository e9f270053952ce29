import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import { ProbelabError } from "../../base/error.js";
import { cleanText, counted } from "../../base/text.js";
import { escapeXml } from "../../base/xml.js";
import { writeWhole } from "../../base/files/write-whole.js";
import { pageDocument } from "../../chart/page.js";
import { folderOf, isAhead, readHistory, type Run } from "./history.js";
import { durationText } from "../../time/span.js";
import { findScheduled, periodAt, type Schedule } from "./schedule.js";

/** States of a notebook, the worst first. */
export const NOTEBOOK_STATES = ["fails", "late", "never ran", "running", "fine"] as const;

/** The status of a scheduled notebook. */
export interface NotebookStatus {
  readonly name: string;
  /** `late`: the first period without a run began 15 minutes ago or earlier. */
  readonly state: (typeof NOTEBOOK_STATES)[number];
  /** Why it fails. */
  readonly error: string | null;
  /** Undefined where it can't be read. */
  readonly schedule: Schedule | undefined;
  /** The newest first. */
  readonly runs: readonly Run[];
  /** Runs that a clock ahead recorded, which are left out until then. */
  readonly ahead: number;
  /** When it is due next. */
  readonly next: Date | undefined;
}

const LATE_MS = 15 * 60_000;
const RUNNING_MS = 60_000;

/** The status of all scheduled notebooks of a folder, the worst first. */
export async function readStatus(
  folder: string,
  out: string,
  now: Date,
): Promise<NotebookStatus[]> {
  const notebooks = await findScheduled(folder, out);
  const all = await Promise.all(
    notebooks.map(async ({ name, schedule }): Promise<NotebookStatus> => {
      const history = await readHistory(folderOf(out, name));
      const runs = history.filter((run) => !isAhead(run, now));
      const ahead = history.length - runs.length;
      if (schedule instanceof ProbelabError) {
        const error = schedule.message;
        return { name, state: "fails", error, schedule: undefined, runs, ahead, next: undefined };
      }
      return { name, schedule, ahead, ...judged(runs, schedule, now) };
    }),
  );
  const rank = ({ state }: NotebookStatus) => NOTEBOOK_STATES.indexOf(state);
  return all.sort((a, b) => rank(a) - rank(b));
}

/** The key of the alert of a notebook that fails. */
export function alertKey(name: string): string {
  const key = `notebook ${name}`;
  if (key.length <= 200) return key;
  return `${key.slice(0, 180)} ${createHash("sha256").update(name).digest("hex").slice(0, 12)}`;
}

function judged(history: readonly Run[], schedule: Schedule, now: Date) {
  const runs = history.map((run): Run => {
    const isRunning = +now - +run.started < schedule.timeout + RUNNING_MS;
    if (run.state !== "running" || isRunning) return run;
    return { ...run, state: "interrupted", error: "The scheduler ended before the run did." };
  });
  const { start, end } = periodAt(now, schedule);
  const [newest] = runs;
  // A timer that died long ago is late at every moment, not only late in the current period.
  const missed = newest === undefined ? start : periodAt(newest.period, schedule).end;
  const last = runs.find(({ state }) => state !== "running");
  const isDue = newest === undefined || newest.period < start;
  const rest = { runs, next: isDue ? start : end, error: null };
  if (last !== undefined && last.state !== "ok") {
    return { ...rest, state: "fails", error: last.error ?? last.state } as const;
  }
  if (newest === undefined) return { ...rest, state: "never ran" } as const;
  if (newest.state === "running") return { ...rest, state: "running" } as const;
  return { ...rest, state: isDue && +now - +missed > LATE_MS ? "late" : "fine" } as const;
}

/** `1 fails, 3 fine` */
export function countedStates(all: readonly NotebookStatus[]): string {
  if (all.length === 0) return "No notebook has a schedule";
  const counts = NOTEBOOK_STATES.map((state) => [
    all.filter((each) => each.state === state).length,
    state,
  ]);
  return counts.flatMap(([count, state]) => (count ? [`${count} ${state}`] : [])).join(", ");
}

/** The status page, in the folder of all runs. */
export const PAGE = "index.html";

const STYLE = `
.fails, .late { border-left: 4px solid var(--error); padding-left: 0.8rem; }
pre { background: var(--error-paper); white-space: pre-wrap; overflow-wrap: anywhere; }
h2 small { color: var(--soft); font-weight: normal; }
`;
const SHOWN_RUNS = 10;

/** Writes the status page, whole or not at all. @throws ProbelabError where it can't be written. */
export async function writePage(out: string, status: readonly NotebookStatus[]): Promise<void> {
  await writeWhole(join(out, PAGE), statusPage(out, status, new Date()));
}

/** The status of scheduled notebooks as a page without scripts, the worst first. */
function statusPage(out: string, status: readonly NotebookStatus[], now: Date): string {
  const body = `<h1>Scheduled notebooks</h1>
<p>${countedStates(status)}, as of ${timeText(now)} UTC.</p>
${status.map((each) => section(out, each)).join("\n")}`;
  return pageDocument({
    title: "Scheduled notebooks",
    style: STYLE,
    body,
  });
}

function section(out: string, { name, state, schedule, error, runs, ahead, next }: NotebookStatus) {
  const link = (run: Run, text: string) => {
    const path = [basename(folderOf(out, name)), run.id, run.page ?? ""].map(encodeURIComponent);
    return run.page === null ? text : `<a href="${escapeXml(path.join("/"))}">${text}</a>`;
  };
  const title = escapeXml(cleanText(name, 200));
  const [newest] = runs;
  const good = runs.find((run) => run.state === "ok");
  const facts = [
    ["Last good run", good === undefined ? "none" : link(good, timeText(good.started))],
    ["Next run", next === undefined ? "none" : timeText(next)],
    ...(ahead === 0 ? [] : [["Left out, as its clock was ahead", counted(ahead, "run")]]),
  ];
  const rows = runs.slice(0, SHOWN_RUNS).map((run) => {
    const cells = [link(run, timeText(run.started)), run.state, ...amounts(run)];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  const lines = (error ?? "").split("\n").map((line) => cleanText(line, 500));
  const said = escapeXml(lines.join("\n"));
  const heads = ["Started (UTC)", "State", "Took", "Rows read"];
  return `<section class="${state.replace(" ", "-")}">
<h2>${newest === undefined ? title : link(newest, title)} <small>${state}${schedule === undefined ? "" : `, every ${schedule.every}`}</small></h2>
${said === "" ? "" : `<pre>${said}</pre>`}
<p>${facts.map(([label, text]) => `${label}: ${text}`).join(" · ")}</p>
${rows.length === 0 ? "" : `<table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`}
</section>`;
}

function amounts({ seconds, rowsRead }: Run): string[] {
  return [
    seconds === null ? "" : durationText(seconds * 1_000),
    rowsRead === null ? "" : counted(rowsRead, "row").replace(/ rows?$/, ""),
  ];
}

/** `2026-11-22 19:31` */
export function timeText(date: Date): string {
  return date.toISOString().slice(0, 16).replace("T", " ");
}
