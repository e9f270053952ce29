import { counted, grouped } from "../../base/text.js";
import type { Database } from "../../database/database.js";
import { parseReportId } from "../measurements/report-id.js";
import { tableBounds } from "../../query/source.js";
import { and, print, raw, sql } from "../../query/sql.js";
import { costOf } from "../../result/origin.js";
import { resultOfRows } from "../../result/own-rows.js";
import type { Result } from "../../result/result.js";
import { DAY, HOUR } from "../../time/span.js";
import { between, rangeText, type TimeRange } from "../../time/time-range.js";
import { formSql, type LogForms } from "./forms.js";
import { fieldText, instantSql, Lines, masked, type LogOptions } from "./lines.js";

/** The findings on a report, the worst first; each report has its worst. */
const FINDINGS = ["unreadable", "refused", "missing", "country", "network", "stored"] as const;

/** A row of `submissions`: a report. */
export type SubmissionRow = {
  /** Its first submission. */
  t: Date;
  report_id: string;
  finding: (typeof FINDINGS)[number];
  /** Stored measurements. */
  measurements: number;
  /** The reason: `Claims IT, stored GE.`; empty for a stored one. */
  detail: string;
};

/** A report as its lines tell of it. */
interface Submitted {
  readonly _report: string;
  readonly _t: Date;
  readonly _accepted: number;
  /** Lines without a status. */
  readonly _unknown: number;
  /** The answer of the last line that was not accepted. */
  readonly _refusal: string;
}

/** A report in the table: measurements, and its values of probe_cc and probe_asn, joined by "+". */
interface Stored {
  readonly _report: string;
  readonly _n: number;
  readonly _cc: string;
  readonly _asn: string;
}

/** `lab.logs.submissions`: see {@link Logs.submissions}. */
export async function submissions(
  logs: Database,
  measurements: Database,
  options: LogOptions,
  forms: LogForms,
): Promise<Result<SubmissionRow>> {
  const action = "compare submissions with what is stored";
  const lines = await Lines.checked(logs, options, action);
  const { range, table: logTable } = lines;
  const { signal } = options;
  const form = formSql("submission", forms, raw(fieldText("message", logTable)));
  const accepted = raw("_status = '' OR startsWith(_status, '2')");
  const question = sql`SELECT _report, ${raw(instantSql(logTable, "min(_time)"))} AS _t,
  countIf(${accepted}) AS _accepted, countIf(_status = '') AS _unknown,
  argMin(_answer, (${accepted}, _time)) AS _refusal
FROM (
  SELECT ${raw(logTable.time.sql)} AS _time, ${form.groups} AS _groups,
    _groups[1] AS _report, _groups[2] AS _answer, extract(_answer, '^[1-5][0-9]{2}\\\\b') AS _status
  ${lines.from(form.is)}
)
WHERE _report != ''
GROUP BY _report
ORDER BY _t, _report`;
  const { table, origin } = await lines.ask(question, action, signal);
  // Runs may last for hours, and the clock of a probe may be an hour ahead of the collector's.
  const [start, end] = [+range.start - DAY, +range.end + HOUR];
  const near = between(new Date(start), new Date(end), { timeZone: range.timeZone });
  const stored = await storedReports(measurements, near, signal);
  const reports = table.objects() as Submitted[];
  const rows = reports.map((report): SubmissionRow => {
    const held = stored.reports.get(report._report);
    const [finding, detail] = compare(report, held);
    const [t, report_id] = [report._t, report._report];
    return { t, report_id, finding, measurements: Number(held?._n ?? 0), detail };
  });
  const counts = FINDINGS.map(
    (finding) => [finding, rows.filter((row) => row.finding === finding).length] as const,
  ).filter(([, count]) => count > 0);
  const unknown = reports.reduce((sum, report) => sum + Number(report._unknown), 0);
  const nothing = `${stored.name} holds no measurement of ${rangeText(near)}.`;
  const none = `No line of ${rangeText(range)} has a known form of a submitted report, so nothing can be said of what is stored. ${stored.name} holds measurements of ${counted(stored.reports.size, "report")} of ${rangeText(near)}. Give the pattern of your lines in tables.logs.forms.submission.`;
  const found = [
    `Of ${counted(rows.length, "submitted report")}: ${counts.map(([finding, count]) => `${grouped(count)} ${finding}`).join(", ")}.`,
    ...(unknown === 0 ? [] : [`${counted(unknown, "line")} without a status count as accepted.`]),
    `Stored measurements are read from 24 hours before the range (${measurements.source}).`,
    ...(stored.reports.size > 0 ? [] : [nothing]),
  ];
  const label = "Stored measurements of the report";
  const result = resultOfRows(
    rows,
    {
      ...origin,
      ...costOf(origin, stored.answer),
      columns: {
        dimensions: [{ name: "finding", order: counts.map(([finding]) => finding) }],
        measures: [
          { name: "measurements", label, unit: "measurements", additive: true, missing: "zero" },
        ],
      },
      notes: [...(rows.length === 0 ? [await lines.whyNone(none)] : found), ...origin.notes],
    },
    ["t", "report_id", "finding", "measurements", "detail"],
  );
  return masked(result, options) as Result<SubmissionRow>;
}

async function storedReports(
  database: Database,
  range: TimeRange,
  signal: AbortSignal | undefined,
) {
  const table = await database.table("measurements");
  const column = (name: string) => `toString(${table.column(name)})`;
  const joined = (name: string) =>
    raw(`arrayStringConcat(arraySort(groupUniqArray(${column(name)})), '+')`);
  const question =
    print(sql`SELECT ${raw(`ifNull(${column("report_id")}, '')`)} AS _report, count() AS _n,
  ${joined("probe_cc")} AS _cc, ${joined("probe_asn")} AS _asn
FROM ${raw(table.from)}${raw(table.merges ? " FINAL" : "")}
WHERE ${and(tableBounds(table, range))} AND _report != ''
GROUP BY _report`);
  const answer = await database.ask({ ...question, action: "read the stored reports", signal });
  const rows = answer.table.objects() as Stored[];
  return { reports: new Map(rows.map((row) => [row._report, row])), name: table.name, answer };
}

function compare(
  { _report, _accepted, _refusal }: Submitted,
  stored: Stored | undefined,
): [SubmissionRow["finding"], detail: string] {
  let id;
  try {
    id = parseReportId(_report);
  } catch (error) {
    return ["unreadable", (error as Error).message];
  }
  const { probeCc, probeAsn } = id;
  if (stored === undefined) {
    return Number(_accepted) > 0
      ? ["missing", "The table holds no measurement of it."]
      : ["refused", `Answered ${_refusal}.`];
  }
  const { _cc, _asn } = stored;
  if (_cc !== probeCc) return ["country", `Claims ${probeCc}, stored ${_cc || "none"}.`];
  if (_asn.replace(/\bAS/g, "") !== String(probeAsn)) {
    return ["network", `Claims AS${probeAsn}, stored ${_asn || "none"}.`];
  }
  return ["stored", ""];
}
