import { MOST_ROWS } from "../../base/limits.js";
import { counted } from "../../base/text.js";
import { foundTable } from "../../change/flows.js";
import { signedPercent } from "../../change/words.js";
import { rowKey } from "../../result/arquero-table.js";
import { valueWords } from "../../result/column-words.js";
import { zoneOf } from "../../result/origin.js";
import { Result } from "../../result/result.js";
import { between } from "../../time/time-range.js";
import { DAY } from "../../time/span.js";
import { heading, label } from "../../render/label.js";
import { LINE } from "../line.js";
import type { Annotation, ChangeRecord, FindingRow } from "../options.js";
import { differenceText, numberOf, type Figure } from "./bars.js";

const WIDTH = 800;
const MOST_LABELS = 12;
const MOST_PANELS = 4;
const LEVEL = "Fitted level, without its season";

/**
 * `anomalies` and `changePoints`: the series in which something was found, a panel for each group, the
 * first found first; else the first groups. Of alarms a band from the limit to what was expected, and spans
 * of the alarms; of changes the fitted level, and a rule or a span where it changed.
 */
export function series(
  { table, origin }: Result,
  { kind, rows: found = [] }: ChangeRecord,
): Figure {
  const isAlarm = kind === "anomalies";
  const { dimensions, measures } = origin.columns;
  const time = origin.columns.time!;
  const measure = measures[0]!;
  const at = (row: FindingRow, column = time.name) => Number(row[column]);
  const keyOf = (row: FindingRow) => rowKey(dimensions.map(({ name }) => row[name]));
  const byGroup = new Map<string, FindingRow[]>();
  for (const row of table.objects() as FindingRow[]) {
    const group = byGroup.get(keyOf(row));
    if (group === undefined) byGroup.set(keyOf(row), [row]);
    else group.push(row);
  }
  const hit = [...new Set(found.map(keyOf))].filter((key) => byGroup.has(key));
  const chosen = hit.length > 0 ? hit : [...byGroup.keys()];
  const all = [...byGroup.values()].flat().map((row) => at(row));
  const end = Math.max(...all);
  const from = Math.min(end - 14 * DAY, ...found.map((row) => at(row, "t") - 3 * DAY));
  const most = Math.floor(MOST_ROWS / Math.min(MOST_PANELS, chosen.length)) - 8;
  const groups = chosen.slice(0, MOST_PANELS).map((key) => {
    const rows = byGroup.get(key)!.toSorted((a, b) => at(a) - at(b));
    const own = found.filter((row) => keyOf(row) === key);
    const texts = dimensions.map(
      ({ name, of }) => `${heading(name)} ${label(valueWords(of ?? name, rows[0]![name]), 60)}`,
    );
    const drawn = isAlarm ? rows.filter((row) => at(row) >= from).slice(-most) : rows;
    return { name: texts.join(", "), own, drawn };
  });
  const begins = Math.min(
    ...groups.flatMap(({ drawn }) => drawn.slice(0, 1).map((row) => at(row))),
  );
  const rows = groups.flatMap(({ name: group, drawn, own }) =>
    drawn.flatMap((row) => {
      const value = { ...row, group, series: measure.label };
      const level = isAlarm ? null : levelAt(at(row), own);
      return level === null ? [value] : [value, { ...value, [measure.name]: level, series: LEVEL }];
    }),
  );
  const several = byGroup.size > 1;
  const lines = !isAlarm && found.length > 0;
  const result = new Result(
    foundTable(table, [time.name, "group", "series", ...measures.map(({ name }) => name)], rows),
    {
      ...origin,
      reductions: [],
      ...(origin.range &&
        rows.length > 0 && {
          range: between(new Date(begins), origin.range.end, { timeZone: zoneOf(origin) }),
        }),
      columns: {
        // Spans show which aren't judged.
        time: { ...time, ...(isAlarm && { incomplete: [] }) },
        dimensions: [
          ...(several ? [{ name: "group", order: groups.map(({ name }) => name) }] : []),
          ...(lines
            ? [{ name: "series", order: [LEVEL, measure.label], other: measure.label }]
            : []),
        ],
        // Every bucket has a row.
        measures: measures.map((each) => ({ ...each, missing: "gap" })),
      },
    },
  );
  const unseen = isAlarm ? found.filter((row) => at(row, "until") <= begins).length : 0;
  return {
    result,
    kind: {
      ...LINE,
      columns: 1,
      size: () => ({ width: WIDTH, ...(isAlarm && { height: 280 }) }),
      annotations: ({ panel }) => {
        const group = groups.find(({ name }) => name === panel) ?? groups[0];
        if (group === undefined) return [];
        const { own, drawn } = group;
        const noted = isAlarm
          ? own.filter((row) => at(row, "until") > begins).map(alarmSpan)
          : own.map((row) => changeSpan(row, measure.unit));
        const open = drawn.find(({ state }) => state === "incomplete");
        const unjudged = { end: new Date(end), label: "not judged yet" };
        return [
          ...noted.slice(0, MOST_LABELS),
          ...(open === undefined ? [] : [{ ...unjudged, time: new Date(at(open)) }]),
        ];
      },
    },
    options: {
      y: measure.name,
      color: lines ? "series" : null,
      ...(isAlarm && { band: ["limit", "expected"] as const }),
      ...(several && { facet: "group", scales: "own", width: WIDTH, height: 150 }),
    },
    title: `${measure.label}${measure.additive ? ` per ${time.every}` : ""}: the ${isAlarm ? "alarms" : "changes"}`,
    remarks: [
      ...(unseen > 0 ? [`${counted(unseen, "earlier alarm")} in the table.`] : []),
      ...(chosen.length > MOST_PANELS
        ? [
            `Drawn: ${MOST_PANELS} of ${chosen.length} groups, the ${found.length === 0 ? "first" : isAlarm ? "largest" : "clearest"}.`,
          ]
        : []),
      ...(lines
        ? ["Spans: when a change happened (95 % interval), or a fall or rise lasted."]
        : []),
    ],
  };
}

function alarmSpan(row: FindingRow): Annotation {
  const kind = row["kind"] as string;
  const by = kind === "drop" ? ` ${signedPercent(numberOf(row["change"]) ?? 0)}` : "";
  return { time: row["t"] as Date, end: row["until"] as Date, label: `${kind}${by}` };
}

/** A rule at a step, or a span of its interval or of a slope: `−34 %`. */
function changeSpan(row: FindingRow, unit: string): Annotation {
  const relative = numberOf(row["relative"]);
  const by =
    unit === "share" || relative === null
      ? differenceText(numberOf(row["size"]) ?? 0, unit)
      : signedPercent(relative);
  const ends =
    row["change"] === "slope" ? (["t", "until"] as const) : (["earliest", "latest"] as const);
  const [time, end] = ends.map((name) => row[name] as Date);
  return { time: time!, ...(+end! > +time! && { end: end! }), label: by };
}

/** The fitted level of a series at a time: from each change to the next, and along slopes; null without changes. */
function levelAt(at: number, changes: readonly FindingRow[]): number | null {
  const points = changes
    .toSorted((a, b) => Number(a["t"]) - Number(b["t"]) || Number(a["until"]) - Number(b["until"]))
    .flatMap((row) => [
      { time: Number(row["t"]), level: Number(row["before"]) },
      { time: Number(row["until"]), level: Number(row["after"]) },
    ]);
  const next = points.findIndex(({ time }) => time > at);
  const [from, to] = [points[next < 0 ? points.length - 1 : next - 1], points[next]];
  if (from === undefined || to === undefined) return (from ?? to)?.level ?? null;
  return from.level + ((to.level - from.level) * (at - from.time)) / (to.time - from.time);
}
