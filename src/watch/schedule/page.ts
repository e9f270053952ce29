import { basename, join } from "node:path";
import { cleanText, counted } from "../../base/text.js";
import { escapeXml } from "../../base/xml.js";
import { writeWhole } from "../../files/write-whole.js";
import { pageDocument } from "../../render/page/page-document.js";
import { folderOf, type Run } from "./history.js";
import { sizeText, spanText } from "./schedule.js";
import { countedStates, type NotebookStatus } from "./status.js";

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
export function statusPage(out: string, status: readonly NotebookStatus[], now: Date): string {
  const summary = status.length === 0 ? "No notebook has a schedule" : countedStates(status);
  const body = `<h1>Scheduled notebooks</h1>
<p>${summary}, as of ${timeText(now)} UTC.</p>
${status.map((each) => section(out, each)).join("\n")}`;
  return pageDocument({
    title: "Scheduled notebooks",
    style: STYLE,
    body,
  });
}

function section(out: string, { name, state, schedule, error, runs, next }: NotebookStatus) {
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
  ];
  const rows = runs.slice(0, SHOWN_RUNS).map((run) => {
    const cells = [link(run, timeText(run.started)), run.state, ...amounts(run)];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  });
  const heads = ["Started (UTC)", "State", "Took", "Memory", "Rows read"];
  return `<section class="${state.replace(" ", "-")}">
<h2>${newest === undefined ? title : link(newest, title)} <small>${state}${schedule === undefined ? "" : `, every ${schedule.every}`}</small></h2>
${
  error === null
    ? ""
    : `<pre>${escapeXml(
        error
          .split("\n")
          .map((line) => cleanText(line, 500))
          .join("\n"),
      )}</pre>`
}
<p>${facts.map(([label, text]) => `${label}: ${text}`).join(" · ")}</p>
${rows.length === 0 ? "" : `<table><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`}
</section>`;
}

function amounts({ seconds, peakMemory, rowsRead }: Run): string[] {
  return [
    seconds === null ? "" : spanText(seconds * 1_000),
    peakMemory === null ? "" : sizeText(peakMemory),
    rowsRead === null ? "" : counted(rowsRead, "row").replace(/ rows?$/, ""),
  ];
}

/** `2026-11-22 19:31` */
export function timeText(date: Date): string {
  return date.toISOString().slice(0, 16).replace("T", " ");
}
