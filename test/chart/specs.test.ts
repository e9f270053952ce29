import { Ajv } from "ajv";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import type { LoggerInterface } from "vega";
import { compile } from "vega-lite";
import { between, type Chart, chart } from "../../src/index.js";
import { PICTURES } from "./support/pictures.js";
import { makeResult, weeklyCounts } from "./support/sample-results.js";

const day = between("2026-03-02", "2026-03-03");
const noon = [chart.annotation("2026-03-02T12:00:00Z", "3.10 released")];

const CHARTS: Record<string, Chart> = {
  ...PICTURES,
  "area of one bucket": chart.area(weeklyCounts({ range: day, every: "day" }), {
    annotations: noon,
  }),
  "line along numbers": chart.line(makeResult({ x: [1, 2, 3], y: [1, 4, 9] })),
  "bars along numbers": chart.bar(makeResult({ x: [10, 20, 30], y: [1, 4, 9] })),
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
  expect(problems({ ...CHARTS.empty?.spec, layer: [{ mark: "lien" }] })).not.toEqual([]);
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
