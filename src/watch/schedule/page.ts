import { counted, cleanText } from "../../base/text.js";
import { scriptHash } from "../../render/page/page-document.js";
import { baseStyle } from "../../render/page/page-style.js";
import { escapeHtml } from "../../notebook/ansi.js";
import { ownPackage } from "../../notebook/own-package.js";
import type { Run } from "./history.js";
import type { Overview, View } from "./overview.js";
import { sizeText, timeText } from "./run.js";
import { scheduleText } from "./schedule.js";

/** Runs in the trend of a notebook's durations. */
const TREND = 48;
const [BAR, HEIGHT] = [5, 36];

const style = `${baseStyle("auto")}
main { max-width: 72rem; }
.summary { color: var(--soft); margin: 0 0 1.5rem; } .summary strong { color: var(--ink); }
.trouble { background: var(--error-paper); border-left: 3px solid var(--error); padding: 0.6rem 0.9rem; overflow-wrap: anywhere; }
ul { list-style: none; margin: 0; padding: 0; }
li { display: grid; grid-template-columns: minmax(0, 4fr) minmax(0, 6fr) 15rem; gap: 0.3rem 1.5rem; align-items: start; padding: 1rem 0; border-top: 1px solid var(--line); }
h2 { font-size: 1.05rem; margin: 0; border: 0; padding: 0; overflow-wrap: anywhere; }
.state { display: inline-block; font-size: 0.8rem; font-weight: 600; border: 1px solid currentcolor; border-radius: 99px; padding: 0 0.6em; color: var(--soft); margin-bottom: 0.35rem; }
.fails .state, .late .state { color: var(--paper); background: var(--error); border-color: var(--error); }
.runs .state { color: var(--accent); }
.when { color: var(--soft); font-size: 0.85rem; margin: 0.15rem 0 0; }
dl { display: grid; grid-template-columns: 4.5rem minmax(0, 1fr); gap: 0.1rem 0.8rem; margin: 0; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
dt { color: var(--soft); } dd { margin: 0; }
figure { margin: 0; } figcaption { font-size: 0.75rem; color: var(--soft); }
svg { display: block; width: 15rem; max-width: 100%; height: ${HEIGHT}px; }
.ok { fill: var(--accent); } .bad { fill: var(--error); } .cut { fill: var(--soft); } .base { stroke: var(--line); }
details, .why { grid-column: 1 / -1; margin: 0; }
summary, .why { color: var(--error); overflow-wrap: anywhere; font-size: 0.9rem; } summary { cursor: pointer; }
details pre { background: var(--error-paper); border-radius: 4px; white-space: pre-wrap; overflow-wrap: anywhere; margin-top: 0.4rem; }
@media (max-width: 52rem) { li { grid-template-columns: minmax(0, 1fr); gap: 0.7rem; } main { padding-top: 1rem; } }
`;

// No script, no request: only the style above is let in.
const policy = `default-src 'none'; style-src ${scriptHash(style)}; base-uri 'none'; form-action 'none'`;

/** The schedule as a page that needs nothing else: failures first, last and next runs, durations. */
export function schedulePage({ at, folder, views, troubles }: Overview): string {
  const counts = (["fails", "late", "runs", "fine", "paused", "new"] as const)
    .map((state) => [state, views.filter((view) => view.state === state).length] as const)
    .filter(([, count]) => count > 0)
    .map(
      ([state, count]) =>
        `${count} ${count === 1 || !/s$/.test(state) ? WORDS[state] : MANY[state]}`,
    );
  const said = counts.length === 0 ? "No notebook carries a schedule" : counts.join(", ");
  const list = views.map((view) => viewHtml(view, at)).join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(`${said} · Scheduled notebooks`)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Scheduled notebooks</h1>
<p class="summary"><strong>${escapeHtml(said)}</strong>, as of ${time(at)} UTC, as are all times here.</p>
${troubles.map((one) => `<p class="trouble" role="alert">${text(one)}</p>`).join("\n")}
<ul>
${list}
</ul>
<footer>Made by probelab ${ownPackage().version} from the notebooks in ${text(folder)}.</footer>
</main>
</body>
</html>
`;
}

const WORDS = {
  fails: "fails",
  late: "late",
  runs: "runs now",
  fine: "fine",
  paused: "paused",
  new: "new",
};
const MANY = { ...WORDS, fails: "fail", runs: "run now" };

function viewHtml(view: View, at: Date): string {
  const { name, state, schedule, last, lastGood, runs, problem, damaged } = view;
  const linked = (run: Run | undefined, shown: string) =>
    run?.page ? `<a href="${href(view, run)}">${shown}</a>` : shown;
  const running = runs.find((run) => run.state === "running");
  const facts = [
    ["Last run", last === undefined ? "none yet" : `${time(last.started)}, ${outcome(last)}`],
    ...(lastGood === undefined || lastGood === last
      ? []
      : [["Last good", linked(lastGood, time(lastGood.started))]]),
    running === undefined
      ? ["Next run", nextText(view, at)]
      : ["Runs", `since ${time(running.started)}`],
  ];
  const fault = problem ?? (last?.state === "ok" ? undefined : last?.error);
  const wrong = [...(fault ? [fault] : []), ...damaged].map(errorHtml);
  return `<li class="${state}">
<div><span class="state">${WORDS[state]}</span><h2>${linked(last, text(name))}</h2><p class="when">${schedule === undefined ? "" : text(scheduleText(schedule))}</p></div>
<dl>${facts.map(([term, told]) => `<dt>${term}</dt><dd>${told}</dd>`).join("")}</dl>
${trend(runs)}
${wrong.join("\n")}
</li>`;
}

function nextText({ state, problem, plan }: View, at: Date): string {
  if (problem !== undefined) return "when its schedule can be read";
  if (state === "paused") return "when it is resumed";
  if (plan.at === undefined) return "never";
  return plan.at <= at.getTime() ? "now" : time(new Date(plan.at));
}

function outcome({ state, seconds, peakMemory, rowsRead }: Run): string {
  return [
    ...(state === "ok" ? [] : [state]),
    ...(seconds === null ? [] : [timeText(seconds * 1000)]),
    ...(peakMemory === null ? [] : [sizeText(peakMemory)]),
    ...(rowsRead === null ? [] : [`${counted(rowsRead, "row")} read`]),
  ].join(", ");
}

function errorHtml(error: string): string {
  const [first = "", ...rest] = error.trim().split("\n");
  const more = rest.join("\n").trim();
  // The first line of a failed cell says where; what is after it says why.
  const why = /^Cell .* failed\.$/.test(first) ? `${first} ${rest[0] ?? ""}` : first;
  if (more === "") return `<p class="why">${text(why, 1_000)}</p>`;
  return `<details><summary>${text(why, 300)}</summary><pre tabindex="0">${escapeHtml(more)}</pre></details>`;
}

/** Bars of the last runs' durations from zero, the newest right. */
function trend(runs: readonly Run[]): string {
  const shown = runs
    .filter(({ seconds }) => seconds !== null)
    .slice(0, TREND)
    .reverse();
  if (shown.length < 2) return "<span></span>";
  const longest = Math.max(...shown.map(({ seconds }) => seconds ?? 0));
  const bars = shown.map((run, index) => {
    const height = Math.max(1, ((HEIGHT - 2) * (run.seconds ?? 0)) / (longest || 1));
    const kind = run.state === "ok" ? "ok" : run.state === "interrupted" ? "cut" : "bad";
    const x = (TREND - shown.length + index) * BAR;
    return `<rect class="${kind}" x="${x}" y="${(HEIGHT - 1 - height).toFixed(1)}" width="${BAR - 1}" height="${height.toFixed(1)}"><title>${time(run.started)}: ${outcome(run)}</title></rect>`;
  });
  const said = `Durations of the last ${shown.length} runs, up to ${timeText(longest * 1000)}`;
  return `<figure><svg viewBox="0 0 ${TREND * BAR} ${HEIGHT}" role="img" aria-label="${said}"><line class="base" x1="0" x2="${TREND * BAR}" y1="${HEIGHT - 0.5}" y2="${HEIGHT - 0.5}"/>${bars.join("")}</svg><figcaption>${said}</figcaption></figure>`;
}

function href({ place }: View, { page }: Run): string {
  return escapeHtml([place, ...(page ?? "").split("/")].map(encodeURIComponent).join("/"));
}

function text(value: string, longest?: number): string {
  return escapeHtml(cleanText(value, longest));
}

function time(at: Date | string): string {
  return new Date(at).toISOString().slice(0, 16).replace("T", " ");
}
