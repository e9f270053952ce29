import { describe, expect, test } from "vitest";
import { between, chart, type Chart, Result } from "../../src/index.js";
import { layers, subtitle } from "./support/layers.js";
import { weeklyCounts } from "./support/sample-results.js";

const MARKS = ["line", "dot"] as const;
const range = between("2026-09-07", "2026-11-21");
const counts = weeklyCounts({ range });

const at = (text: string): number => Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text);

/** The first and the last instant of the axis, as dates. */
function domain(drawn: Chart): string[] {
  const scale = layers(drawn)[0]?.encoding.x?.scale as { domain: number[] };
  return scale.domain.map((instant) => new Date(instant).toISOString().slice(0, 10));
}

function marked(mark: (typeof MARKS)[number] | "bar", ...times: string[]): Chart {
  const annotations = times.map((time) => chart.annotation(time, `at ${time}`));
  return chart[mark](counts, { annotations });
}

const drawnMarks = (drawn: Chart): unknown[] =>
  (layers(drawn).find(({ mark }) => mark.type === "rule")?.data.values ?? []).map(
    ({ label }) => label,
  );

describe("the time that a chart shows", () => {
  test.each(MARKS)("chart.%s takes in an annotation of the last bucket", (mark) => {
    const drawn = marked(mark, "2026-11-18");
    expect(domain(drawn)).toEqual(["2026-09-07", "2026-11-18"]);
    expect(drawnMarks(drawn)).toEqual(["at 2026-11-18"]);
    expect(subtitle(drawn)).not.toContain("Outside");
  });

  test.each(MARKS)("chart.%s ends at the last bucket's start without one", (mark) => {
    // A line of counts ends with its last whole bucket.
    const whole = ["2026-09-07", mark === "line" ? "2026-11-09" : "2026-11-16"];
    expect(domain(marked(mark))).toEqual(whole);
    expect(domain(marked(mark, "2026-10-01"))).toEqual(whole);
    const outside = marked(mark, "2026-11-24", "2026-09-01");
    expect(domain(outside)).toEqual(whole);
    expect(subtitle(outside)).toContain(
      "Outside the chart: at 2026-11-24 (24 Nov 2026), at 2026-09-01 (1 Sep 2026).",
    );
  });

  test("bars take in an annotation of the range beyond the last of them", () => {
    // The answer of a range in whose last weeks nothing was measured.
    const early = new Result(counts.table.slice(0, counts.numRows() - 7 * 4), counts.origin);
    const annotations = [chart.annotation("2026-11-18", "hotfix")];
    expect(drawnMarks(chart.bar(early, { annotations }))).toEqual(["hotfix"]);
    expect(drawnMarks(marked("bar", "2026-11-18"))).toEqual(["at 2026-11-18"]);
    expect(drawnMarks(marked("bar", "2026-11-24"))).toEqual([]);
  });

  test("an annotation of a span is a band as far as the chart reaches, and ends after its start", () => {
    const annotations = [chart.annotation("2026-11-02", "rollout", "2027-02-01")];
    const band = layers(chart.line(counts, { annotations })).find(
      ({ mark }) => mark.type === "rect",
    );
    expect(band?.data.values).toEqual([
      { time: "2026-11-02T00:00:00Z", end: "2026-11-09T00:00:00Z" },
    ]);
    expect(() => chart.annotation("2026-03-02", "incident", "2026-03-02")).toThrow(
      "pass an end after its time, 2026-03-02T00:00:00.000Z",
    );
  });

  test("a lone bucket stands in the middle, its annotation inside", () => {
    const lone = weeklyCounts({ range: between("2026-11-09", "2026-11-16") });
    const annotations = [chart.annotation("2026-11-12", "hotfix")];
    expect(domain(chart.line(lone, { annotations }))).toEqual(["2026-11-06", "2026-11-12"]);
    const scale = layers(chart.line(lone))[0]?.encoding.x?.scale as { domain: number[] };
    expect(scale.domain).toEqual([at("2026-11-08T23:00:00Z"), at("2026-11-09T01:00:00Z")]);
  });
});
