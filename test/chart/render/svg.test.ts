import { afterEach, describe, expect, test, vi } from "vitest";
import { between, chart } from "../../../src/index.js";
import { originRecord } from "../../../src/chart/render/origin.js";
import { titleText } from "../../../src/chart/render/svg.js";
import { makeResult, weeklyCounts, weeklyDurations } from "../support/sample-results.js";
import { xmlElements } from "../support/xml-tree.js";

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
    expect(record).toEqual(originRecord(area.origin, [], titleText(area.spec.title)));
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

  test("shows the whole of a label that fits: widths are the font's own", async () => {
    const host = "host-with-a-name-of-38-characters-01";
    const result = makeResult({ x: [1, 2, 1, 2], y: [1, 2, 3, 4], host: [host, host, "b", "b"] });
    expect(xmlElements(await chart.line(result).svg()).map(({ text }) => text)).toContain(host);
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
