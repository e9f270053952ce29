import { describe, expect, test } from "vitest";
import { chart, type Chart, postmortem, table } from "../../src/index.js";
import { drawFigure, figureRecord } from "../../src/incident/figure.js";
import { versionSummary, weeklyCounts } from "../chart/support/sample-results.js";
import { explanation } from "../chart/support/findings.js";
import { report } from "./report.js";

const begun = { title: "T", severity: 3, detectedAt: "2026-05-04T08:40:00Z" } as const;

describe("postmortem(fields)", () => {
  test("reads times in UTC, texts as a list, and leaves the rest untold", () => {
    const { draft } = postmortem({
      ...begun,
      startedAt: "2026-05-04 07:00",
      resolvedAt: new Date(Date.UTC(2026, 4, 5)),
      summary: " one ",
      impact: ["a", " ", "b"],
    });
    expect(draft).toMatchObject({
      startedAt: "2026-05-04T07:00:00.000Z",
      detectedAt: "2026-05-04T08:40:00.000Z",
      resolvedAt: "2026-05-05T00:00:00.000Z",
      respondedAt: null,
      status: "draft",
      summary: ["one"],
      impact: ["a", "b"],
      trigger: [],
    });
  });

  test.each([
    [{ title: "T", severity: 3 }, /without detectedAt/],
    [{ ...begun, severity: 5 }, /5 as severity of a postmortem: pass 1, 2, 3 or 4/],
    [{ ...begun, detectedAt: "soon" }, /Can't read "soon" as the detectedAt of a postmortem/],
    [{ ...begun, summry: "x" }, /"summry" into a postmortem: it takes .*summary/],
    [{ ...begun, impact: [1] }, /1 as impact of a postmortem: pass a text/],
    [{ ...begun, sterile: "yes" }, /"yes" as sterile of a postmortem: pass true or false/],
    [
      { ...begun, resolvedAt: "2026-05-03", startedAt: "2026-05-04" },
      /resolved at .* before it began/,
    ],
    [
      { ...begun, respondedAt: "2026-05-03" },
      /response at 2026-05-03T00:00:00.000Z, before the detection/,
    ],
  ])("%j is refused", (fields, message) => {
    expect(() => postmortem(fields as never)).toThrow(message);
  });

  test("set(fields) says it anew; what is refused changes nothing", () => {
    const report = postmortem({ ...begun, summary: "old" });
    expect(() => report.set({ summary: "new", severity: 7 as never })).toThrow(/7 as severity/);
    expect(() => report.set({ respondedAt: "2020-01-01" })).toThrow(/before the detection/);
    expect(report.draft.summary).toEqual(["old"]);
    expect(report.set({ summary: "new", leader: null }).draft.summary).toEqual(["new"]);
  });

  test("the chart of a change is a figure as any other, and is drawn again from its record", () => {
    const why = explanation();
    const [figure] = postmortem(begun).finding(why.sentence, chart.change(why)).figures;
    expect(figure!.name).toMatch(/^where-the-drop-in-measurements-comes-from/);
    const { content } = drawFigure(
      JSON.parse(JSON.stringify(figureRecord(figure!))) as never,
      (figure!.content as Chart).result,
    );
    expect((content as Chart).spec).toEqual((figure!.content as Chart).spec);
  });

  test("takes what explain answered: its headline and evidence are the text, its picture and its table are figures, once", () => {
    const why = explanation();
    const weekly = chart.area(weeklyCounts());
    const report = postmortem(begun)
      .finding(why, weekly)
      .finding("It is the release.", why)
      .timeline("2026-05-04", "found", why);
    const [first, second] = report.draft.findings;
    const told = `${why.headline}. ${why.evidence}`;
    expect(first!.text.startsWith(told)).toBe(true);
    expect(first!.text).toMatch(/ Measurements fell by [\d,]+ \([\d.]+ %\), from [\d,]+ to /);
    expect(first!.evidence).toHaveLength(3);
    expect(second!.evidence).toEqual(first!.evidence.slice(0, 2));
    expect(report.figures.map(({ content }) => "markdown" in content)).toEqual([
      false,
      true,
      false,
    ]);
    // The sentence stands in the text, not again in the picture.
    const picture = report.figures[0]!.content as Chart;
    expect(JSON.stringify((picture.spec["title"] as object) ?? "")).not.toContain(
      why.evidence.slice(0, 30),
    );
    const { content } = drawFigure(
      JSON.parse(JSON.stringify(figureRecord(report.figures[0]!))) as never,
      picture.result,
    );
    expect((content as Chart).spec).toEqual(picture.spec);
    expect(() => postmortem(begun).finding("x", { kind: "explain" } as never)).toThrow(
      "pass a chart, a table, a finding, or an address",
    );
  });

  test("a chart that a finding rests on is added once, and keeps its place, name and caption until told anew", () => {
    const [counts, summary] = [chart.area(weeklyCounts()), table(versionSummary())];
    const report = postmortem(begun)
      .finding("first", counts, summary)
      .timeline("2026-05-04", "then", counts)
      .add(counts, { caption: "Weekly" })
      .add(counts, { name: "weekly" });
    expect(report.figures.map(({ name, caption }) => [name, caption])).toEqual([
      ["weekly", "Weekly"],
      ["runs-by-version", "Runs by version"],
    ]);
    expect(report.draft.findings[0]?.evidence).toEqual([
      { figure: "weekly" },
      { figure: "runs-by-version" },
    ]);
    expect(report.draft.timeline[0]?.evidence).toEqual([{ figure: "weekly" }]);
  });

  test("two charts with one title have files of two names", () => {
    const [one, two] = [chart.area(weeklyCounts()), chart.area(weeklyCounts())];
    const names = postmortem(begun)
      .add(one)
      .add(two)
      .figures.map(({ name }) => name);
    expect(names[0]).toMatch(/^measurements-per-week-by-version/);
    expect(names[1]).toBe(`${names[0]}-2`);
  });

  test("the timeline is in the order of time, whatever the order of telling", () => {
    const times = report().draft.timeline.map(({ time }) => time);
    expect(times).toEqual(["2026-03-18T09:00:00.000Z", "2026-03-20T08:40:00.000Z"]);
  });

  test.each([
    [() => postmortem(begun).finding(""), /"" as a finding/],
    [
      () => postmortem(begun).finding("x", "javascript:alert(1)"),
      /Can't rest .*"javascript:alert\(1\)"/,
    ],
    [
      () => postmortem(begun).finding("x", weeklyCounts() as never),
      /Can't rest a statement on a Result \(wrap it: table\(result\)\)/,
    ],
    [
      () => postmortem(begun).finding("x", Promise.resolve() as never),
      /a Promise \(is an await missing\?\)/,
    ],
    [() => postmortem(begun).action({ what: "x", onwer: "y" } as never), /did you mean owner\?/i],
    [
      () => postmortem(begun).add(chart.area(weeklyCounts()), { capton: "x" } as never),
      /did you mean caption\?/i,
    ],
    [() => postmortem(begun).add({} as never), /pass a chart .* or a table/],
    [
      () => postmortem(begun).add(chart.area(weeklyCounts()), { name: "../x" }),
      /files "\.\.\/x": use up to 80 .* such as "x"/,
    ],
    [
      () => report().add(chart.area(weeklyCounts()), { name: "counts" }),
      /"counts": another figure has that name; use another, such as "counts-2"/,
    ],
    [() => postmortem(begun).timeline("x", "y"), /Can't read "x" as the time of a timeline entry/],
  ])("%s is refused", (act, message) => {
    expect(act).toThrow(message);
  });

  test("save(folder, options) refuses options that it doesn't know, before anything is written", async () => {
    await expect(report().save("nowhere", { maskAdresses: false } as never)).rejects.toThrow(
      /did you mean maskAddresses\?/i,
    );
    await expect(report().save(undefined as never)).rejects.toThrow(
      /Can't save a postmortem in undefined: pass the path of a folder/,
    );
  });

  test("as a notebook shows it: what nobody has written", () => {
    const shown = String(report());
    expect(shown).toMatch(
      /^# .*\n\nDraft\. Still missing: root causes, trigger, detection, resolution\.\n/,
    );
    expect(shown).toMatch(/- \[ \] Postmortem: not complete/);
    expect(shown).not.toMatch(/## Trigger/);
    const told = { rootCauses: "a", trigger: "b", detection: "c", resolution: "d" };
    expect(String(report().set(told))).toMatch(/- \[x\] Postmortem: done/);
  });

  test("says how many timeline entries rest on nothing, and is not written before they do", () => {
    const complete = () =>
      report().set({ rootCauses: "a", trigger: "b", detection: "c", resolution: "d" });
    const one = complete().timeline("2026-03-20", "Somebody looks");
    expect(String(one)).toMatch(/^Draft\. Still missing: data for 1 timeline entry\.$/m);
  });

  test("a timeline entry at midnight has its time, as the others have", () => {
    const shown = String(
      report().timeline("2026-03-19", "Midnight", "https://alerts.example.org/2"),
    );
    expect(shown).toMatch(/\| 2026-03-19 00:00 \| Midnight \|/);
    expect(shown).toMatch(/\| 2026-03-20 08:40 \| Alarm \|/);
  });
});
