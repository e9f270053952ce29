import { afterEach, describe, expect, test, vi } from "vitest";
import { between, chart } from "../../src/index.js";
import { originRecord } from "../../src/render/origin/origin-record.js";
import { textWidth } from "../../src/fonts/shipped-font.js";
import { makeResult, weeklyCounts, weeklyDurations } from "../chart/support/sample-results.js";
import { xmlElements } from "../chart/support/xml-tree.js";

const rome = between("2026-03-27", "2026-03-31", { timeZone: "Europe/Rome" });

afterEach(() => vi.unstubAllEnvs());

describe("chart.svg()", () => {
  test("is well-formed, with role, title, description and origin", async () => {
    const area = chart.area(weeklyCounts());
    const elements = xmlElements(await area.svg());
    const find = (path: string) => elements.find((element) => element.path === path);
    expect(find("/svg")?.attributes.role).toBe("img");
    expect(find("/svg/title")?.text).toContain("Measurements per week by version");
    expect(find("/svg/desc")?.text).toBe(area.spec.description);
    const record = JSON.parse(find("/svg/metadata/origin")?.text ?? "") as unknown;
    expect(record).toEqual(originRecord(area.origin));
  });

  test("has the same bytes each time and in every time zone of the process", async () => {
    const pictures = new Set<string>();
    const offsets = new Set<number>();
    for (const zone of ["UTC", "America/New_York", "Asia/Kathmandu", "UTC"]) {
      vi.stubEnv("TZ", zone);
      offsets.add(new Date(2026, 0, 1).getTimezoneOffset());
      const drawn = [
        chart.line(weeklyDurations(), {
          y: "q50",
          annotations: [chart.annotation("2026-03-02", "x")],
        }),
        chart.area(weeklyCounts({ range: rome, every: "hour" })),
        chart.bar(weeklyCounts()),
      ];
      pictures.add((await Promise.all(drawn.map((each) => each.svg()))).join());
    }
    expect(offsets.size).toBe(3);
    expect(pictures.size).toBe(1);
  });

  test("labels the axis in UTC, or in the zone that the range names", async () => {
    const labels = async (result: Parameters<typeof chart.line>[0]): Promise<string[]> =>
      xmlElements(await chart.line(result).svg()).map(({ text }) => text);
    expect(await labels(weeklyCounts())).toEqual(
      expect.arrayContaining(["Jan 26", "Feb 2", "Apr 27", "Week from Monday (UTC)"]),
    );
    expect(await labels(weeklyCounts({ range: rome, every: "hour" }))).toEqual(
      expect.arrayContaining(["00:00", "Mar 29, 2026", "Hour (Europe/Rome)"]),
    );
  });

  test("shows the whole of a label that fits: widths are the font's own", async () => {
    const host = "host-with-a-name-of-38-characters-01";
    const result = makeResult({ x: [1, 2, 1, 2], y: [1, 2, 3, 4], host: [host, host, "b", "b"] });
    expect(xmlElements(await chart.line(result).svg()).map(({ text }) => text)).toContain(host);
  });

  test("each text is as wide in any font as it was laid out; a line is a text of its own", async () => {
    const drawn = chart.line(weeklyDurations(), {
      y: "q50",
      width: 300,
      title: "A < B & C ".repeat(9),
    });
    const elements = xmlElements(await drawn.svg());
    const texts = elements.filter(({ name, text }) => name === "text" && text.length > 1);
    expect(elements.filter(({ name }) => name === "tspan")).toEqual([]);
    expect(texts.length).toBeGreaterThan(20);
    for (const { attributes, text } of texts) {
      const weight = attributes["font-weight"] === "bold" ? 700 : 400;
      const width = textWidth(text, Number.parseInt(attributes["font-size"] ?? ""), weight);
      expect(Number(attributes.textLength)).toBeCloseTo(width, 1);
      expect(attributes.lengthAdjust).toBe("spacingAndGlyphs");
    }
    const lines = texts.filter(({ attributes }) => attributes["font-weight"] === "bold");
    expect(lines.map(({ text }) => text).join(" ")).toBe("A < B & C ".repeat(9).trim());
    expect(lines.map(({ attributes }) => attributes.transform?.split(" ").slice(1))).toEqual(
      lines.map((_, line) => (line === 0 ? [] : [`translate(0,${line * 18})`])),
    );
  });

  test("texts of another font or script than the shipped keep their own width", async () => {
    const texts = (name: string, font?: object) =>
      chart
        .vegaLite(makeResult({ x: [1] }), {
          mark: { type: "text", text: name, ...font },
        })
        .svg();
    const length = /textLength="[^"]*" lengthAdjust="spacingAndGlyphs">name/;
    expect(await texts("name")).toMatch(length);
    expect(await texts("name", { font: "monospace" })).not.toMatch(length);
    expect(await texts("name \u0628\u0631\u0644\u064a\u0646")).not.toMatch(length);
  });

  test("ids of clip paths are its own, so that several fit one page", async () => {
    const clipped = (n: number) =>
      chart.vegaLite(makeResult({ x: [1, 2], y: [n, 3] }), {
        mark: { type: "line", clip: true },
        encoding: {
          x: { field: "x", type: "quantitative" },
          y: { field: "y", type: "quantitative" },
        },
      });
    const [one, two, again] = await Promise.all([
      clipped(1).svg(),
      clipped(2).svg(),
      clipped(1).svg(),
    ]);
    const ids = (svg = ""): string[] =>
      [...svg.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id);
    expect(again).toBe(one);
    expect(ids(one)).toHaveLength(1);
    expect(ids(two)).not.toEqual(ids(one));
    expect(one).toContain(`url(#${ids(one)[0]})`);
  });

  test("a fill of an address is none", async () => {
    const image = "url(https://example.org/a.svg#b)";
    const svg = await chart
      .vegaLite(makeResult({ x: [1], y: [image] }), {
        mark: { type: "bar", stroke: image, cursor: image },
        title: `shows ${image}`,
        encoding: {
          x: { field: "x", type: "quantitative" },
          fill: { field: "y", type: "nominal", scale: null },
        },
      })
      .svg();
    const tags = xmlElements(svg).map(({ attributes }) => JSON.stringify(attributes));
    expect(tags.filter((tag) => /url\((?!#)/.test(tag))).toEqual([]);
    expect(svg).toContain(`shows ${image}`);
  });
});
