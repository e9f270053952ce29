import type { Database } from "../database/database.js";
import { boundsSql } from "../database/time-column.js";
import { parseReportId, type ReportId } from "../measurements/report-id.js";
import { partialOf } from "../result/origin.js";
import { Result, type Value } from "../result/result.js";
import { between, formatRange, last } from "../time/time-range.js";
import { formSql, groupSql, formsOf, type Form, type LogForms } from "./forms.js";
import {
  askLogs,
  checkLogQuestion,
  maskedLogs,
  whyNoLines,
  type AskedLogs,
  type LogOptions,
} from "./log-question.js";
import { fieldText, instantSql, messageText } from "./log-table.js";

/** What a comparison of submissions takes besides. */
export interface SubmissionOptions extends LogOptions {
  /** How long before its report's submission a measurement may have started; default "24 hours". */
  readonly margin?: string;
}

/** Beyond what a run's clock may be ahead of the collector's. */
const AHEAD_MS = 3_600_000;

/** `lab.logs.submissions`: see {@link Logs.submissions}. */
export async function submissions(
  logs: Database,
  measurements: Database,
  options: SubmissionOptions,
  configured: LogForms = {},
): Promise<Result<SubmissionRow>> {
  const action = "compare submissions with what is stored";
  const asked = await checkLogQuestion(logs, options, action, ["margin"]);
  const { range } = asked;
  const forms = formsOf("submission", configured);
  const { table: claimed, origin } = await askLogs(logs, asked, submissionSql(asked, forms));
  const margin = options.margin ?? "24 hours";
  const stored = await storedReports(measurements, {
    start: last(margin, { now: range.start }).start,
    end: new Date(range.end.getTime() + AHEAD_MS),
  });
  const lines = claimed.objects() as Record<string, Value>[];
  const rows = lines.map((line) => compare(line, stored.reports));
  const aq = await import("arquero");
  const findings = FINDINGS.filter((finding) => rows.some((row) => row.finding === finding));
  const result = new Result(
    aq.table(Object.fromEntries(COLUMNS.map((name) => [name, rows.map((row) => row[name])]))),
    {
      ...origin,
      ...partialOf(origin, stored),
      rowsRead: origin.rowsRead + stored.rowsRead,
      bytesRead: origin.bytesRead + stored.bytesRead,
      seconds: origin.seconds + stored.seconds,
      columns: {
        dimensions: [{ name: "finding", order: findings }],
        measures: [
          {
            name: "measurements",
            label: "Measurements stored of the report",
            unit: "measurements",
            additive: true,
            missing: "zero",
          },
        ],
      },
      notes: [
        ...(rows.length === 0
          ? [await noSubmission(logs, asked, forms, stored)]
          : [
              `Of ${count(rows.length)} submitted reports: ${findings
                .map((one) => `${rows.filter((row) => row.finding === one).length} ${one}`)
                .join(", ")}.`,
              ...formNotes(lines, forms),
              `The stored ones are read from ${margin} before the range (${measurements.source}).`,
              ...(stored.reports.size > 0
                ? []
                : [`${stored.name} holds no measurement from ${stored.span}: nothing is stored.`]),
            ]),
        ...origin.notes,
      ],
    },
  );
  return maskedLogs(result, options) as Result<SubmissionRow>;
}

/** A row for each report that the range's lines submit, and how many lines of each form do. */
function submissionSql({ table, source }: AskedLogs, forms: readonly Form[]) {
  const message = messageText(table);
  const time = table.time.sql;
  const form = formSql(forms, message);
  const group = (name: string) => `${groupSql(forms, name, message, "_form")} AS _${name}`;
  const ofForm = forms.map((_, at) => `countIf(_form = ${at + 1}) AS _form_${at + 1}`);
  return {
    sql: `SELECT _report, ${instantSql("min(_time)", table)} AS _t,
  countIf(_status = '' OR startsWith(_status, '2')) AS _accepted, countIf(_status = '') AS _untold,
  argMin((_status, _detail), (_status = '' OR startsWith(_status, '2'), _time)) AS _first,
  _first.1 AS _refusal, _first.2 AS _why, ${ofForm.join(", ")}
FROM (
  SELECT ${time} AS _time, ${form.sql} AS _form,
    ${["report", "status", "detail"].map(group).join(",\n    ")}
  ${source.sql.replace("\n", "\n  ")} AND _form > 0
)
WHERE _report != ''
GROUP BY _report
ORDER BY _t, _report`,
    parameters: { ...source.parameters, ...form.parameters },
  };
}

/** By which forms the lines were read, and what those don't tell. */
function formNotes(lines: readonly Record<string, Value>[], forms: readonly Form[]): string[] {
  const sum = (name: string) => lines.reduce((all, line) => all + Number(line[name]), 0);
  const used = forms
    .map(({ name }, at) => ({ name, lines: sum(`_form_${at + 1}`) }))
    .filter((form) => form.lines > 0)
    .map((form) => `${count(form.lines)} of the form ${form.name}`);
  const untold = sum("_untold");
  return [
    `Lines that submit a report: ${used.join(", ")}.`,
    ...(untold === 0 ? [] : [`${count(untold)} of them tell no status and count as accepted.`]),
  ];
}

/** Says that nothing was found, and that this is no sign of health. */
async function noSubmission(
  logs: Database,
  asked: AskedLogs,
  forms: readonly Form[],
  stored: Awaited<ReturnType<typeof storedReports>>,
): Promise<string> {
  const { table, source, range } = asked;
  const programs = await logs.rows<{ program: string | null; all: string }>(
    `SELECT ${fieldText("identifier", table)} AS program, sum(count()) OVER () AS all
${source.sql}
GROUP BY program
ORDER BY count() DESC, program
LIMIT 8`,
    source.parameters,
    asked.action,
  );
  const [first] = programs;
  if (first === undefined) return whyNoLines(logs, asked);
  const names = programs.map(({ program }) => program || "no named program").join(", ");
  return `No line from ${formatRange(range)} has the form of a submitted report (${forms.map(({ name }) => name).join(", ")}; looked at ${count(Number(first.all))} lines of ${table.name}; there are lines of ${names}): whether reports are stored can't be told. ${stored.name} holds measurements of ${count(stored.reports.size)} reports from ${stored.span}. Say how your lines look: tables.logs.forms.submission.`;
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** What is found of a report, the worst first; each is given its worst. */
const FINDINGS = ["unreadable", "refused", "missing", "country", "network", "stored"] as const;

const COLUMNS = [
  ...(["t", "report_id", "finding", "measurements", "claimed_cc", "stored_cc"] as const),
  ...(["claimed_asn", "stored_asn", "detail"] as const),
];

/** A row of `submissions`: a report. */
export type SubmissionRow = {
  t: Date;
  report_id: string;
  finding: (typeof FINDINGS)[number];
  measurements: number;
  claimed_cc: string | null;
  stored_cc: string | null;
  claimed_asn: number | null;
  stored_asn: number | null;
  detail: string;
};

interface Stored {
  readonly measurements: number;
  readonly cc: string;
  readonly asn: string;
}

async function storedReports(database: Database, range: { start: Date; end: Date }) {
  const table = await database.table("measurements");
  const bounds = boundsSql(table.time, range);
  const column = (name: string) => `toString(${table.column(name)})`;
  const joined = (name: string) =>
    `arrayStringConcat(arraySort(groupUniqArray(${column(name)})), '+')`;
  const answer = await database.ask({
    sql: `SELECT ifNull(${column("report_id")}, '') AS _report, count() AS _n, ${joined("probe_cc")} AS _cc,
  ${joined("probe_asn")} AS _asn
FROM ${table.from}${table.merges ? " FINAL" : ""}
WHERE ${[bounds.sql, ...(table.time.usable === null ? [] : [table.time.usable])].join(" AND ")} AND _report != ''
GROUP BY _report`,
    parameters: bounds.parameters,
    action: "read the stored reports",
  });
  const reports = new Map<string, Stored>();
  for (const row of answer.table.objects() as Record<string, Value>[]) {
    reports.set(row["_report"] as string, {
      measurements: Number(row["_n"]),
      cc: row["_cc"] as string,
      asn: row["_asn"] as string,
    });
  }
  const span = formatRange(between(range.start, range.end));
  return { reports, name: table.name, span, ...answer };
}

function compare(line: Record<string, Value>, reports: ReadonlyMap<string, Stored>): SubmissionRow {
  const report = line["_report"] as string;
  const stored = reports.get(report);
  const found = (
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
    return found("unreadable", (error as Error).message);
  }
  if (stored === undefined) {
    if (Number(line["_accepted"]) > 0) {
      return found("missing", "The table holds no measurement of it.", id);
    }
    const [refusal, why] = [line["_refusal"] as string, line["_why"] as string];
    return found("refused", why === "" ? `Answered ${refusal}.` : why, id);
  }
  if (stored.cc !== id.probeCc) {
    return found("country", `Claims ${id.probeCc}, stored ${stored.cc || "none"}.`, id);
  }
  if (stored.asn.replace(/\bAS/g, "") !== String(id.probeAsn)) {
    return found("network", `Claims AS${id.probeAsn}, stored ${stored.asn || "none"}.`, id);
  }
  return found("stored", "", id);
}

/** The number of `18182` or `AS18182`; null where a report has several. */
function asnNumber(text: string): number | null {
  const digits = /^(?:AS)?(\d+)$/.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}
