import { describe, expect, test } from "vitest";
import { chart, ProbelabError, table } from "../../src/index.js";
import { drawRecipe } from "../../src/chart/chart.js";
import { weeklyCounts } from "./support/sample-results.js";

/** A function as plain JavaScript sees it: it takes whatever comes. */
type Loose = (...given: unknown[]) => unknown;

const counts = weeklyCounts();
const drawn = chart.area(counts, { width: 300, height: 100 });
const loose = (made: unknown): Loose => made as Loose;
const plain = chart as unknown as Record<"line" | "vegaLite" | "annotation", Loose>;
const makers: [string, Loose][] = [
  ["chart.line", plain.line],
  ["chart.vegaLite", (result) => plain.vegaLite(result, { mark: "bar" })],
  ["table", loose(table)],
];

/** What the call is refused with, a ProbelabError. */
function refusal(call: () => unknown): string {
  let told: unknown;
  try {
    call();
  } catch (error) {
    told = error;
  }
  expect(told).toBeInstanceOf(ProbelabError);
  return (told as ProbelabError).message;
}

test.each(makers)("%s of what is no Result says what it is, and what to pass", (name, make) => {
  const shownAs = (what: string) =>
    name === "table" ? `Can't show ${what} as a table: ` : `Can't draw ${what}: `;
  const question = `${name}(await lab.measurements.counts({ range }))`;
  const rows = `pass rows, ${name}([{ t: new Date("2026-05-04"), runs: 12 }]).`;
  expect(refusal(() => make(Promise.resolve(counts)))).toBe(
    `${shownAs("a Promise")}write await before the question, ${question}.`,
  );
  for (const [list, held] of [
    [[counts], "a Result (one chart draws one)"],
    [[{ a: 1 }, null], "null"],
    [[[1]], "a list"],
    [[drawn], "a Chart"],
  ] as const) {
    expect(refusal(() => make(list))).toBe(`${shownAs(`a list that holds ${held}`)}${rows}`);
  }
  for (const [value, shown] of [
    [undefined, "undefined"],
    [{ range: 1 }, '{"range":1}'],
    [drawn, "a Chart"],
  ] as const) {
    const text = refusal(() => make(value));
    expect(text).toContain(shownAs(shown));
    expect(text).toContain(question);
  }
});

describe("options that TypeScript would refuse", () => {
  const line = (options: unknown): string => refusal(() => plain.line(counts, options));

  test.each([
    [
      { annotations: ["2026-10-01"] },
      'annotations: ["2026-10-01"]: pass a list of annotations, [chart.annotation(',
    ],
    [{ title: Promise.resolve("x") }, "title: a Promise (is an await missing?): pass a text."],
    [{ y: { type: "sqrt" } }, 'y.type: "sqrt": pass "linear" or "log".'],
    [{ y: { lable: "s" } }, 'the option "y.lable": did you mean y.label?'],
    [{ reference: 1_800 }, "reference: 1800: pass a number with its label"],
    [{ theme: "constructor" }, 'theme: "constructor": pass "light" or "dark".'],
    [
      { colour: "probe_cc" },
      'the option "colour": did you mean color? The options are x, x.label, y,',
    ],
    [{ constructor: 1 }, 'the option "constructor": The options are x, x.label, y,'],
    ["dark", '"dark": pass an object of options, such as { x: … }'],
    [null, "null: pass an object"],
  ])("chart.line(counts, %j)", (options, message) => {
    const text = line(options);
    expect(text).toMatch(/^Can't draw a chart with /);
    expect(text).toContain(message);
  });
});

test("x and y take a column, or an object with it and what is said of the axis", () => {
  expect(chart.line(counts, { x: { value: "t" }, y: { value: "measurements" } }).spec).toEqual(
    chart.line(counts, { x: "t", y: "measurements" }).spec,
  );
  const made = chart.line(counts, { y: { label: "Rows", zero: false } });
  expect(JSON.stringify(made.spec)).toContain('"title":"Rows"');
  expect(drawRecipe(counts, made.recipe).spec).toEqual(made.spec);
});

test("chart.data can't be changed: a file tells what the picture shows", () => {
  const { rows, names } = chart.line(counts).data;
  expect(() => ((rows[0] as unknown[])[2] = 9e9)).toThrow(TypeError);
  expect(() => (rows as unknown[]).pop()).toThrow(TypeError);
  expect(() => (names as string[]).reverse()).toThrow(TypeError);
});
