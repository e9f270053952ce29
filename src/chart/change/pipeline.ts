import { counted } from "../../base/text.js";
import { label } from "../label.js";
import type { VegaLiteSpec } from "../options.js";
import { originSpan } from "../sentences.js";
import {
  amountText,
  nothing,
  numberOf,
  partText,
  type Canvas,
  type ChangePicture,
} from "./picture.js";

const WIDTH = 560;
const NAMES_WIDTH = 200;
const MOST_PROGRAMS = 30;
const SELDOM = "Too seldom to judge";

/** `lab.freshness`: how old the newest row of each program is, and the silence that is usual for it. */
export function ages({ result, options, theme }: Canvas): ChangePicture {
  const all = result.rows();
  // What is silent first, then what is nearest to it.
  const excess = (row: (typeof all)[number]): number =>
    (numberOf(row["age"]) ?? 0) / Math.max(900, 2 * (numberOf(row["longest_silence"]) ?? 0));
  const order = (row: (typeof all)[number]): number => (row["silent"] === true ? 1e9 : 0);
  const rows = all
    .toSorted((a, b) => order(b) + excess(b) - order(a) - excess(a))
    .slice(0, MOST_PROGRAMS);
  const width = options.width ?? WIDTH;
  const height = options.height ?? Math.max(60, rows.length * 22);
  const data = rows.map((row, at) => {
    const age = numberOf(row["age"]) ?? 0;
    const usual = numberOf(row["longest_silence"]) ?? 0;
    const program = row["program"];
    return {
      row: `r${at}`,
      name: `${label(row["table"])}${program === null || program === undefined ? "" : `: ${program === "" ? "no named program" : label(program)}`}`,
      // A log axis has no zero, and nobody cares about less than a second.
      age: Math.max(1, age),
      limit: Math.max(900, 2 * usual),
      told: duration(age),
      usual: duration(usual),
      state: row["silent"] === null ? SELDOM : row["silent"] === true ? "Silent" : "As usual",
    };
  });
  const y = rowAxis(
    data.map(({ row }) => row),
    data.map(({ name }) => name),
    theme.text,
  );
  const seconds = [1, 10, 60, 600, 3600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000];
  const most = Math.max(3600, ...data.map(({ age, limit }) => Math.max(age, limit)));
  const x = (field: string): VegaLiteSpec => ({
    field,
    type: "quantitative",
    scale: { type: "log", domain: [1, most * 2], nice: false },
    axis: {
      title: "Age of the newest row (log scale)",
      values: seconds.filter((at) => at <= most * 2),
      labelExpr: `({${seconds.map((at) => `"${at}":"${duration(at)}"`).join(",")}})[datum.value]`,
      domain: false,
      ticks: false,
    },
  });
  const tooltip = [
    ["name", "Of"],
    ["told", "Age of the newest row"],
    ["usual", "Longest silence of the week before"],
    ["state", "State"],
  ].map(([field, title]) => ({ field, type: "nominal", title }));
  const looks: Readonly<Record<string, string | undefined>> = {
    "As usual": theme.series[0],
    Silent: theme.series[5],
    [SELDOM]: theme.neutral,
  };
  const states = Object.keys(looks).filter((state) => data.some((one) => one.state === state));
  return {
    title: "How old the newest rows are, by table and program",
    told: [
      ...(all.length > rows.length
        ? [
            `Drawn: ${rows.length} of ${counted(all.length, "row")}, those that are late by most first.`,
          ]
        : []),
      "Upright strokes: twice the longest silence of the week before, 15 minutes at least; beyond it a program is silent.",
    ],
    widest: width + NAMES_WIDTH,
    named: true,
    spec: {
      ...{ width, height },
      data: { values: data },
      layer:
        data.length === 0
          ? [nothing(theme.muted, "Nothing known.")]
          : [
              {
                transform: [{ filter: `datum.state !== ${JSON.stringify(SELDOM)}` }],
                mark: { type: "rule", color: theme.grid, strokeWidth: 1.5 },
                encoding: { y, x: { ...x("limit") }, x2: { datum: 1 } },
              },
              {
                transform: [{ filter: `datum.state !== ${JSON.stringify(SELDOM)}` }],
                mark: { type: "tick", color: theme.muted, thickness: 2, size: 14 },
                encoding: { y, x: x("limit"), tooltip },
              },
              {
                mark: { type: "point", filled: true, size: 80, opacity: 1 },
                encoding: {
                  ...{ y, x: x("age"), tooltip },
                  color: {
                    field: "state",
                    type: "nominal",
                    scale: { domain: states, range: states.map((one) => looks[one]) },
                    legend: { title: null },
                  },
                },
              },
              {
                mark: { type: "text", align: "left", dx: 8, fontSize: 11, color: theme.text },
                encoding: { y, x: x("age"), text: { field: "told", type: "nominal" } },
              },
            ],
    },
    rows: {
      names: result.columnNames,
      rows: rows.map((row) => result.columnNames.map((name) => row[name] ?? null)),
    },
  };
}

/** `lab.funnel`: the reports at each step, now and the week before, and what came through. */
export function steps({ result, options, theme }: Canvas): ChangePicture {
  const rows = result.rows();
  const width = options.width ?? WIDTH;
  const height = options.height ?? Math.max(60, rows.length * 52);
  const which = ["Now", "The week before"];
  const data = rows.flatMap((row) => {
    const name = label(row["step"]);
    return [
      { name, of: which[0], value: numberOf(row["now"]), passed: numberOf(row["passed"]) },
      {
        name,
        of: which[1],
        value: numberOf(row["before"]),
        passed: numberOf(row["passed_before"]),
      },
    ].map((one, at) => ({
      ...one,
      end: one.value ?? 0,
      // What the first step let through isn't known: it is compared with the week before.
      told:
        one.value === null
          ? "unknown"
          : `${amountText(one.value, "")}${one.passed === null || name === "check-in" ? "" : ` (${partText(one.passed)} came through)`}`,
      change:
        at === 0 && numberOf(row["change"]) !== null ? partText(numberOf(row["change"])!) : "–",
    }));
  });
  const names = rows.map((row) => label(row["step"]));
  const y = {
    ...{ field: "name", type: "ordinal", sort: names },
    scale: { domain: names, paddingInner: 0.25, paddingOuter: 0.12 },
    axis: { title: null, ticks: false, domain: false, labelFontSize: 12, labelColor: theme.text },
  };
  const yOffset = { field: "of", sort: which, scale: { domain: which } };
  const tooltip = [
    ["name", "Step"],
    ["of", "When"],
    ["told", "Reports"],
    ["change", "Change of what came through"],
  ].map(([field, title]) => ({ field, type: "nominal", title }));
  const most = Math.max(1, ...data.map(({ end }) => end));
  const x = (field: string): VegaLiteSpec => ({
    field,
    type: "quantitative",
    // Room for the figures.
    scale: { domain: [0, most * (width / Math.max(60, width - 170))], nice: false },
    axis: {
      title: "Reports",
      labelExpr: 'format(datum.value, "~s")',
      tickCount: 5,
      domain: false,
      ticks: false,
    },
  });
  return {
    title: ["Reports from check-in to storage", ...originSpan(result.origin)].join(", "),
    told: [],
    widest: width + NAMES_WIDTH,
    named: true,
    spec: {
      ...{ width, height },
      data: { values: data },
      layer:
        data.length === 0
          ? [nothing(theme.muted, "Nothing known.")]
          : [
              {
                mark: { type: "bar", orient: "horizontal" },
                encoding: {
                  ...{ y, yOffset, x: x("end"), tooltip },
                  color: {
                    field: "of",
                    type: "nominal",
                    scale: { domain: which, range: [theme.series[0], theme.neutral] },
                    legend: { title: null },
                  },
                },
              },
              {
                mark: { type: "text", align: "left", dx: 6, fontSize: 11, color: theme.text },
                encoding: { y, yOffset, x: x("end"), text: { field: "told", type: "nominal" } },
              },
            ],
    },
    rows: {
      names: result.columnNames,
      rows: rows.map((row) => result.columnNames.map((name) => row[name] ?? null)),
    },
  };
}

/** The vertical channel of rows with these names. */
function rowAxis(
  places: readonly string[],
  names: readonly string[],
  labelColor: string,
): VegaLiteSpec {
  return {
    ...{ field: "row", type: "ordinal", sort: places, scale: { domain: places } },
    axis: {
      title: null,
      labelExpr: `(${JSON.stringify(Object.fromEntries(places.map((row, at) => [row, names[at]])))})[datum.value]`,
      labelLimit: NAMES_WIDTH + 40,
      labelPadding: 10,
      labelColor,
      ticks: false,
      domain: false,
      grid: false,
    },
  };
}

/** `42 s`, `3 min`, `5 h`, `2 d`. */
function duration(seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 60) return `${Math.round(seconds)} s`;
  if (size < 3600) return `${Math.round(seconds / 60)} min`;
  if (size < 86_400) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}
