/** The same question, as cells of a notebook: what is set up once, then a picture each. */
export type Cells = readonly [setup: string, counts: string, durations: string];

/** Area of weekly counts by version; median duration of the runs by version and week. */
export const probelab: Cells = [
  `import { chart, connect, last } from "probelab";
const lab = await connect();
const range = last("26 weeks", { now: lab.now });`,
  `const counts = await lab.measurements.counts({ range, every: "week", by: "software_version" });
await chart.area(counts).save("counts.png");`,
  `const durations = await lab.measurements.runDurations({ range, every: "week", by: "software_version" });
await chart.line(durations, { y: "q50" }).save("durations.png");`,
];

/**
 * Rows come as Arrow where pyarrow is installed, else as CSV. Without vl-convert, Altair can't draw: the
 * specification that a browser would draw is all that it makes.
 */
const setup = `import os
from urllib.request import Request, urlopen
import pandas as pd
try:
    import pyarrow as pa
except ImportError:
    pa = None

END = pd.Timestamp("2026-07-01")
START = END - pd.Timedelta(weeks=26)
BETWEEN = "measurement_start_time >= '{:%F %T}' AND measurement_start_time < '{:%F %T}'"
DAY = pd.Timedelta(days=1)

def ask(sql, **csv):
    format = " FORMAT ArrowStream SETTINGS output_format_arrow_compression_method = 'none'" if pa else " FORMAT CSVWithNames"
    request = Request(os.environ["CLICKHOUSE"], (sql + format).encode(), {"X-Probelab-Token": os.environ["TOKEN"]})
    with urlopen(request) as answer:
        return pa.ipc.open_stream(answer).read_pandas(date_as_object=False) if pa else pd.read_csv(answer, **csv)
`;

const askCounts = `top = """SELECT software_version FROM fastpath WHERE %s
  GROUP BY software_version ORDER BY count() DESC LIMIT 6""" % BETWEEN.format(START, END)
counts = ask(f"""SELECT toStartOfWeek(measurement_start_time, 1) AS week, count() AS measurements,
  if(software_version IN ({top}), software_version, 'other') AS version
  FROM fastpath WHERE {BETWEEN.format(START, END)} GROUP BY week, version ORDER BY week""", parse_dates=["week"])`;

const askDurations = `durations = ask(f"""SELECT toStartOfWeek(start, 1) AS week, version,
  quantileExactInclusive(0.5)(duration) AS median
  FROM (SELECT min(measurement_start_time) AS start, max(measurement_start_time) - start AS duration,
      argMin(if(software_version IN ({top}), software_version, 'other'), measurement_start_time) AS version
    FROM fastpath WHERE {BETWEEN.format(START - DAY, END + DAY)} GROUP BY report_id)
  WHERE start >= '{START}' AND start < '{END}' GROUP BY week, version ORDER BY week""", parse_dates=["week"])`;

const altair = `import altair as alt
try:
    import vl_convert
    ending = "png"
except ImportError:
    ending = "json"
`;
const altairCounts = `alt.Chart(counts, width=900).mark_area().encode(
  x="week:T", y="measurements:Q", color="version:N").save(f"counts.{ending}")`;
const altairDurations = `alt.Chart(durations, width=900).mark_line().encode(
  x="week:T", y="median:Q", color="version:N").save(f"durations.{ending}")`;

/** What a user would write who knows ClickHouse: the engine counts. */
export const altairSql: Cells = [
  setup + altair,
  `${askCounts}\n${altairCounts}`,
  `${askDurations}\n${altairDurations}`,
];

/** What a user would write who knows pandas: the rows come, pandas counts. To their gain, runs come hashed. */
export const altairRaw: Cells = [
  setup + altair,
  `rows = ask(f"""SELECT toUnixTimestamp(measurement_start_time) AS t, software_version AS version,
  cityHash64(report_id) AS run FROM fastpath WHERE {BETWEEN.format(START - DAY, END + DAY)}""",
  dtype={"t": "uint32", "version": "category", "run": "uint64"})
rows["version"] = rows.version.astype("category")
asked = rows[(rows.t >= START.timestamp()) & (rows.t < END.timestamp())]
top = asked.version.value_counts().index[:6]
weeks = ((asked.t - 4 * 86400) // (7 * 86400)).rename("week")
counts = asked.groupby([weeks, "version"], observed=True).size().rename("measurements").reset_index()
counts["version"] = counts.version.astype(str).where(counts.version.isin(top), "other")
counts = counts.groupby(["week", "version"], as_index=False).measurements.sum()
counts["week"] = pd.to_datetime((counts.week * 7 + 4) * 86400, unit="s")
${altairCounts}`,
  `ordered = rows.sort_values("t", kind="stable")
runs = ordered.groupby("run").agg(start=("t", "first"), end=("t", "last"), version=("version", "first"))
runs = runs[(runs.start >= START.timestamp()) & (runs.start < END.timestamp())]
runs["version"] = runs.version.astype(str).where(runs.version.isin(top), "other")
runs["week"] = pd.to_datetime(((runs.start - 4 * 86400) // (7 * 86400) * 7 + 4) * 86400, unit="s")
runs["median"] = runs.end - runs.start
durations = runs.groupby(["week", "version"], as_index=False)["median"].median()
${altairDurations}`,
];

/** The same with pandas' own pictures: PNGs without a browser. */
export const matplotlibSql: Cells = [
  `${setup}import matplotlib\nmatplotlib.use("agg")\n`,
  `${askCounts}
counts.pivot(index="week", columns="version", values="measurements").fillna(0).plot.area(
  figsize=(9, 3)).figure.savefig("counts.png", dpi=200)`,
  `${askDurations}
durations.pivot(index="week", columns="version", values="median").plot(
  figsize=(9, 3)).figure.savefig("durations.png", dpi=200)`,
];
