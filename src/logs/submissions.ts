import type { Database } from "../database/database.js";
import { boundsSql, quoteIdentifier } from "../database/time-column.js";
import { parseReportId } from "../measurements/report-id.js";
import { Result, type Value } from "../result/result.js";
import { last } from "../time/time-range.js";
import { askLogs, checkLogQuestion, type LogOptions } from "./log-question.js";
import { columnOf } from "./log-table.js";
import { whyNoLines } from "./why-no-lines.js";

/** What a comparison of submissions takes besides. */
export interface SubmissionOptions extends LogOptions {
  /** How long before its report's submission a measurement may have started; default "24 hours". */
  readonly margin?: string;
}

/** A report's submission, as the collector logged it. */
const SUBMISSION = "^POST /report/([^ ?]+)";
/** Beyond what a run's clock may be ahead of the collector's. */
const AHEAD_MS = 3_600_000;

/** `lab.logs.submissions`: see {@link Logs.submissions}. */
export async function submissions(
  logs: Database,
  measurements: Database,
  options: SubmissionOptions,
): Promise<Result> {
  const asked = await checkLogQuestion(logs, options, "compare submissions with what is stored");
  const { table, source, range } = asked;
  const message = quoteIdentifier(columnOf("message", table));
  const time = table.time.sql;
  const instant = `toDateTime64(${table.time.dateTime(`min(${time})`)}, 3, 'UTC')`;
  const sql = `SELECT extract(${message}, {submission:String}) AS _report, ${instant} AS _t, argMin(${message}, ${time}) AS _message
${source.sql} AND match(${message}, {submission:String})
GROUP BY _report
ORDER BY _t, _report`;
  const parameters = { ...source.parameters, submission: SUBMISSION };
  const { table: claimed, origin } = await askLogs(logs, asked, { sql, parameters });
  const before = last(options.margin ?? "24 hours", { now: range.start }).start;
  const stored = await storedReports(measurements, {
    start: before,
    end: new Date(range.end.getTime() + AHEAD_MS),
  });
  const rows = (claimed.objects() as Record<string, Value>[]).map((row) =>
    compare(row["_report"] as string, row["_t"] as Date, row["_message"] as string, stored.reports),
  );
  const aq = await import("arquero");
  const column = (name: keyof Comparison) => rows.map((row) => row[name]);
  const findings = FINDINGS.filter((finding) => rows.some((row) => row.finding === finding));
  return new Result(
    aq.table({
      t: column("t"),
      report_id: column("report_id"),
      finding: column("finding"),
      measurements: column("measurements"),
      claimed_cc: column("claimed_cc"),
      stored_cc: column("stored_cc"),
      claimed_asn: column("claimed_asn"),
      stored_asn: column("stored_asn"),
      detail: column("detail"),
    }),
    {
      ...origin,
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
      notes:
        rows.length === 0
          ? [await whyNoLines(logs, asked)]
          : [
              `Of ${rows.length.toLocaleString("en-US")} submitted reports: ${findings
                .map((one) => `${rows.filter((row) => row.finding === one).length} ${one}`)
                .join(", ")}.`,
              `The stored ones are read from ${options.margin ?? "24 hours"} before the range (${measurements.source}).`,
            ],
    },
  );
}

/** What is found of a report, the worst first; each is given its worst. */
const FINDINGS = ["unreadable", "refused", "missing", "country", "network", "stored"] as const;

interface Comparison {
  readonly t: Date;
  readonly report_id: string;
  readonly finding: (typeof FINDINGS)[number];
  readonly measurements: number;
  readonly claimed_cc: string | null;
  readonly stored_cc: string | null;
  readonly claimed_asn: number | null;
  readonly stored_asn: number | null;
  readonly detail: string;
}

interface Stored {
  readonly measurements: number;
  readonly cc: string;
  readonly asn: string;
}

async function storedReports(database: Database, range: { start: Date; end: Date }) {
  const table = await database.table("measurements");
  const bounds = boundsSql(table.time, range);
  const answer = await database.ask({
    sql: `SELECT report_id AS _report, count() AS _n, arrayStringConcat(arraySort(groupUniqArray(toString(probe_cc))), '+') AS _cc,
  arrayStringConcat(arraySort(groupUniqArray(toString(probe_asn))), '+') AS _asn
FROM ${table.from}
WHERE ${bounds.sql}
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
  return { reports, ...answer };
}

function compare(
  report: string,
  t: Date,
  message: string,
  reports: ReadonlyMap<string, Stored>,
): Comparison {
  const stored = reports.get(report);
  const row = {
    t,
    report_id: report,
    measurements: stored?.measurements ?? 0,
    claimed_cc: null,
    stored_cc: stored?.cc ?? null,
    claimed_asn: null,
    stored_asn: stored === undefined ? null : asnNumber(stored.asn),
  };
  let id;
  try {
    id = parseReportId(report);
  } catch (error) {
    return { ...row, finding: "unreadable", detail: (error as Error).message };
  }
  const claims = { ...row, claimed_cc: id.probeCc, claimed_asn: id.probeAsn };
  if (stored === undefined) {
    const status = /: ([45]\d\d)\b.*$/.exec(message)?.[0]?.slice(2);
    return status === undefined
      ? { ...claims, finding: "missing", detail: "The table holds no measurement of it." }
      : { ...claims, finding: "refused", detail: status };
  }
  if (stored.cc !== id.probeCc) {
    return { ...claims, finding: "country", detail: `Claims ${id.probeCc}, stored ${stored.cc}.` };
  }
  if (stored.asn.replace(/\bAS/g, "") !== String(id.probeAsn)) {
    const detail = `Claims AS${id.probeAsn}, stored ${stored.asn}.`;
    return { ...claims, finding: "network", detail };
  }
  return { ...claims, finding: "stored", detail: "" };
}

/** The number of `18182` or `AS18182`; null where a report has several. */
function asnNumber(text: string): number | null {
  const digits = /^(?:AS)?(\d+)$/.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}
