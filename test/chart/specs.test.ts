import { Ajv } from "ajv";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import type { LoggerInterface } from "vega";
import { compile } from "vega-lite";
import { between, type Chart, chart } from "../../src/index.js";
import {
  makeResult,
  versionSummary,
  weeklyCounts,
  weeklyDurations,
} from "./support/sample-results.js";

const annotations = [chart.annotation("2026-03-02", "3.10 released")];
const rome = between("2026-03-27", "2026-04-02", { timeZone: "Europe/Rome" });
const day = between("2026-03-02", "2026-03-03");
const noon = [chart.annotation("2026-03-02T12:00:00Z", "3.10 released")];
const gaps = makeResult({ x: [1, 2, 3, 4, 5, 6], y: [1, null, 3, 4, null, 6] });

const CHARTS: Record<string, Chart> = {
  area: chart.area(weeklyCounts(), { annotations }),
  "area of one series": chart.area(weeklyCounts(), { color: null }),
  "area of one bucket": chart.area(weeklyCounts({ range: day, every: "day" }), {
    annotations: noon,
  }),
  "area with lone values": chart.area(gaps),
  line: chart.line(weeklyDurations(), { y: "q50", annotations }),
  "line on a log scale": chart.line(weeklyDurations(), { y: { value: "q50", type: "log" } }),
  "line of hours in Rome": chart.line(weeklyCounts({ range: rome, every: "hour" })),
  "line along numbers": chart.line(makeResult({ x: [1, 2, 3], y: [1, 4, 9] })),
  bar: chart.bar(weeklyCounts(), { annotations }),
  "bar by category": chart.bar(versionSummary()),
  "bars along numbers": chart.bar(makeResult({ x: [10, 20, 30], y: [1, 4, 9] })),
  points: chart.dot(weeklyDurations(), { y: "single" }),
  "odd column names": chart.line(
    makeResult({ "a.b[0]": [1, 2], "'y\"": [3, 4], __proto__x: ["s", "t"] }),
  ),
  empty: chart.line(weeklyCounts().with(weeklyCounts().table.slice(0, 0))),
};

test.each(Object.entries(CHARTS))(
  "the spec of chart %s keeps to Vega-Lite's schema, compiles without a warning, is JSON",
  (_, drawn) => {
    expect(problems(drawn.spec)).toEqual([]);
    const warnings: unknown[] = [];
    compile(drawn.spec as unknown as Parameters<typeof compile>[0], {
      logger: collector(warnings),
    });
    expect(warnings).toEqual([]);
    expect(JSON.parse(JSON.stringify(drawn.spec))).toEqual(drawn.spec);
    expect(drawn.spec.$schema).toBe("https://vega.github.io/schema/vega-lite/v5.json");
  },
);

test("a spec that breaks the schema is found", () => {
  expect(problems({ ...CHARTS.line?.spec, layer: [{ mark: "lien" }] })).not.toEqual([]);
});

const schema = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve("vega-lite/vega-lite-schema.json"), "utf8"),
) as object;
const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);

function problems(spec: object): unknown[] {
  return validate(spec) ? [] : (validate.errors ?? ["unknown"]);
}

function collector(messages: unknown[]): LoggerInterface {
  const collect = (...args: readonly unknown[]): LoggerInterface => {
    messages.push(...args);
    return logger;
  };
  const ignore = (): LoggerInterface => logger;
  const logger = {
    level: () => logger,
    error: collect,
    warn: collect,
    info: ignore,
    debug: ignore,
  } as unknown as LoggerInterface;
  return logger;
}
