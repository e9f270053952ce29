import { basename } from "node:path";
import { oneLine } from "./alert/message.js";
import { formatDuration } from "../incident/severities/checklist.js";
import { severityOf } from "../incident/severities/severities.js";
import { alert, type AlertOptions, type AlertReport } from "./alert/alert.js";
import type { AlertLinks } from "./alert/message.js";

/** Where and whether it calls, and where whoever is called looks next. */
export interface DeadlineOptions extends AlertOptions {
  readonly links: AlertLinks;
}

/** The part of a response time that is left when people are called. */
const LEFT = 1 / 4;

/**
 * Calls people where an incident's response is due within the last quarter of its time, and again
 * where the deadline is missed; resolves both when the response is told, the incident is closed, or
 * nobody can act on it any more. Writes the incident's page anew. Made to be called every few minutes.
 *
 * @param folder of an incident that `probelab incident open` began.
 * @returns what became of the alerts; nothing of one that was told before.
 * @throws ProbelabError where the folder holds no incident, and as `alert.send`.
 * @example
 * await checkDeadlines("incidents/2026-05-04-short-runs", { links: { notebook, page, runbook } });
 */
export async function checkDeadlines(
  folder: string,
  { links, ...options }: DeadlineOptions,
): Promise<AlertReport[]> {
  // Loaded when it is needed: every kernel would wait for it at its start.
  const [{ readIncident }, { writePage }] = await Promise.all([
    import("../incident/living/read-incident.js"),
    import("../incident/living/page.js"),
  ]);
  const { draft, due, now, folder: path } = await readIncident(folder);
  // Of one that is closed, the last entry wrote the page for good.
  if (draft.resolvedAt === null) await writePage(path);
  const { title, severity, detectedAt } = draft;
  const [soon, missed] = ["due", "missed"].map((what) => `${basename(path)}: response ${what}`);
  if (due === null) {
    return [await alert.resolve(soon!, options), await alert.resolve(missed!, options)];
  }
  const left = Date.parse(due.at) - +now;
  if (left > severityOf(severity).responseTime * 3_600_000 * LEFT) return [];
  const at = `${due.at.slice(0, 16).replace("T", " ")} UTC`;
  const short = oneLine(title).slice(0, 120);
  const message = due.overdue
    ? { key: missed!, title: `Response missed: ${short}`, tells: `was due ${at}, and none is told` }
    : {
        key: soon!,
        title: `Response due: ${short}`,
        tells: `is due ${at}, in ${formatDuration(left)}`,
      };
  const { key, tells } = message;
  const text = `The response to a severity ${severity} incident, detected at ${detectedAt.slice(0, 16).replace("T", " ")} UTC, ${tells}. Whoever begins tells it: probelab incident note ${basename(path)} --responded "…"`;
  return [await alert.send({ key, title: message.title, text, severity, links }, options)];
}
