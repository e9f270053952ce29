import { counted } from "../base/text.js";
import type { Database } from "../database/database.js";
import { parseReportId, type ReportId } from "../measurements/report-id.js";
import { tableBounds } from "../query/source.js";
import { and, print, raw, sql, type Sql } from "../query/sql.js";
import { partialOf } from "../result/origin.js";
import { Result, type Value } from "../result/result.js";
import { between, formatRange, last, type TimeRange } from "../time/time-range.js";
import { formSql, patternsOf, type LogForms } from "./forms.js";
import {
  askLines,
  checkedLines,
  fromLines,
  hasLines,
  instantSql,
  masked,
  messageText,
  whyNoLines,
  type Lines,
  type LogOptions,
} from "./lines.js";

/** Options of `lab.logs.submissions`. */
export interface SubmissionOptions extends LogOptions {
  /** Time before the range in which measurements of its reports may have started; default "24 hours". */
  readonly margin?: string;
}

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
  claimed_cc: string | null;
  stored_cc: string | null;
  claimed_asn: number | null;
  stored_asn: number | null;
  detail: string;
};

/** The clock of a probe may be ahead of the collector's by as much. */
const AHEAD_MS = 3_600_000;

/** `lab.logs.submissions`: see {@link Logs.submissions}. */
export async function submissions(
  logs: Database,
  measurements: Database,
  options: SubmissionOptions,
  forms: LogForms,
): Promise<Result<SubmissionRow>> {
  const action = "compare submissions with what is stored";
  const lines = await checkedLines(logs, options, action, ["margin"]);
  const { range } = lines;
  const { margin = "24 hours", signal } = options;
  const question = submissionSql(lines, patternsOf("submission", forms));
  const { table, origin } = await askLines(logs, lines, question, { action, signal });
  const near = between(
    last(margin, { now: range.start }).start,
    new Date(range.end.getTime() + AHEAD_MS),
    { timeZone: range.timeZone },
  );
  const stored = await storedReports(measurements, near, signal);
  const reports = table.objects() as Record<string, Value>[];
  const rows = reports.map((report) => compare(report, stored.reports));
  const withoutStatus = reports.reduce((sum, report) => sum + Number(report["_unknown"]), 0);
  const findings = FINDINGS.filter((finding) => rows.some((row) => row.finding === finding));
  const numbers = findings.map(
    (finding) => `${rows.filter((row) => row.finding === finding).length} ${finding}`,
  );
  const notes =
    rows.length === 0
      ? [await whyNone()]
      : [
          `Of ${counted(rows.length, "submitted report")}: ${numbers.join(", ")}.`,
          ...(withoutStatus === 0
            ? []
            : [`${counted(withoutStatus, "line")} without a status count as accepted.`]),
          `Stored measurements are read from ${margin} before the range (${measurements.source}).`,
          ...(stored.reports.size > 0
            ? []
            : [`${stored.name} holds no measurement from ${formatRange(near)}.`]),
        ];
  const columns = [
    ...(["t", "report_id", "finding", "measurements", "claimed_cc", "stored_cc"] as const),
    ...(["claimed_asn", "stored_asn", "detail"] as const),
  ];
  const aq = await import("arquero");
  const result = new Result(
    aq.table(columns.map((name) => [name, rows.map((row): Value => row[name])])),
    {
      ...origin,
      ...partialOf(origin, stored.answer),
      rowsRead: origin.rowsRead + stored.answer.rowsRead,
      bytesRead: origin.bytesRead + stored.answer.bytesRead,
      seconds: origin.seconds + stored.answer.seconds,
      columns: {
        dimensions: [{ name: "finding", order: findings }],
        measures: [
          {
            name: "measurements",
            label: "Stored measurements of the report",
            unit: "measurements",
            additive: true,
            missing: "zero",
          },
        ],
      },
      notes: [...notes, ...origin.notes],
    },
  );
  return masked(result, options) as Result<SubmissionRow>;

  async function whyNone(): Promise<string> {
    if (!(await hasLines(logs, lines))) return whyNoLines(logs, lines);
    return `No line from ${formatRange(range)} has a known form of a submitted report, so nothing can be said of what is stored. ${stored.name} holds measurements of ${counted(stored.reports.size, "report")} from ${formatRange(near)}. Give the pattern of your lines in tables.logs.forms.submission.`;
  }
}

/** SQL for a row per report that the lines submit. */
function submissionSql(lines: Lines, patterns: readonly string[]): Sql {
  const { table, conditions } = lines;
  const form = formSql(patterns, raw(messageText(table)));
  const accepted = "_status = '' OR startsWith(_status, '2')";
  return sql`SELECT _report, ${raw(instantSql("min(_time)", table))} AS _t,
  countIf(${raw(accepted)}) AS _accepted, countIf(_status = '') AS _unknown,
  argMin(_answer, (${raw(accepted)}, _time)) AS _refusal
FROM (
  SELECT ${raw(table.time.sql)} AS _time, ${form.groups} AS _groups,
    _groups[1] AS _report, _groups[2] AS _answer, extract(_answer, '^[1-5][0-9]{2}\\\\b') AS _status
  ${fromLines({ table, conditions: [...conditions, form.is] })}
)
WHERE _report != ''
GROUP BY _report
ORDER BY _t, _report`;
}

interface Stored {
  readonly measurements: number;
  /** Its values of probe_cc and probe_asn, joined by "+". */
  readonly cc: string;
  readonly asn: string;
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
  const final = raw(table.merges ? " FINAL" : "");
  const question =
    print(sql`SELECT ${raw(`ifNull(${column("report_id")}, '')`)} AS _report, count() AS _n,
  ${joined("probe_cc")} AS _cc, ${joined("probe_asn")} AS _asn
FROM ${raw(table.from)}${final}
WHERE ${and(tableBounds(table, range))} AND _report != ''
GROUP BY _report`);
  const answer = await database.ask({ ...question, action: "read the stored reports", signal });
  const rows = answer.table.objects() as Record<string, Value>[];
  const reports = new Map(
    rows.map((row): [string, Stored] => {
      const [cc, asn] = [row["_cc"], row["_asn"]] as [string, string];
      return [row["_report"] as string, { measurements: Number(row["_n"]), cc, asn }];
    }),
  );
  return { reports, name: table.name, answer };
}

function compare(line: Record<string, Value>, reports: ReadonlyMap<string, Stored>): SubmissionRow {
  const report = line["_report"] as string;
  const stored = reports.get(report);
  const row = (
    finding: SubmissionRow["finding"],
    detail: string,
    claimed?: Pick<ReportId, "probeCc" | "probeAsn">,
  ): SubmissionRow => ({
    t: line["_t"] as Date,
    report_id: report,
    finding,
    measurements: stored?.measurements ?? 0,
    claimed_cc: claimed?.probeCc ?? null,
    stored_cc: stored?.cc ?? null,
    claimed_asn: claimed?.probeAsn ?? null,
    stored_asn: stored === undefined ? null : asnNumber(stored.asn),
    detail,
  });
  let id: ReportId;
  try {
    id = parseReportId(report);
  } catch (error) {
    return row("unreadable", (error as Error).message);
  }
  if (stored === undefined) {
    return Number(line["_accepted"]) > 0
      ? row("missing", "The table holds no measurement of it.", id)
      : row("refused", `Answered ${line["_refusal"] as string}.`, id);
  }
  if (stored.cc !== id.probeCc) {
    return row("country", `Claims ${id.probeCc}, stored ${stored.cc || "none"}.`, id);
  }
  if (stored.asn.replace(/\bAS/g, "") !== String(id.probeAsn)) {
    return row("network", `Claims AS${id.probeAsn}, stored ${stored.asn || "none"}.`, id);
  }
  return row("stored", "", id);
}

/** The number of `18182` or `AS18182`; null where a report has several. */
function asnNumber(text: string): number | null {
  const digits = /^(?:AS)?(\d+)$/.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}
