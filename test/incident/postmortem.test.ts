import { describe, expect, test } from "vitest";
import { chart, type Chart, postmortem, table } from "../../src/index.js";
import { drawFigure, figureName, figureRecord } from "../../src/incident/figure.js";
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
    [{ ...begun, title: " " }, /" " as title/],
    [{ ...begun, severity: 5 }, /5 as severity of a postmortem: pass 1, 2, 3 or 4/],
    [{ ...begun, severity: "2" }, /"2" as severity/],
    [{ ...begun, detectedAt: "soon" }, /Can't read "soon" as the detectedAt of a postmortem/],
    [{ ...begun, detectedAt: null }, /Can't read null as the detectedAt/],
    [{ ...begun, summry: "x" }, /"summry" into a postmortem: it takes .*summary/],
    [{ ...begun, impact: [1] }, /1 as impact of a postmortem: pass a text/],
    [{ ...begun, sterile: "yes" }, /"yes" as sterile of a postmortem: pass true or false/],
    [
      { ...begun, resolvedAt: "2026-05-03", startedAt: "2026-05-04" },
      /resolved at .* before it began/,
    ],
    [
      { ...begun, startedAt: "2026-05-05" },
      /detected at 2026-05-04T08:40:00.000Z, before it began/,
    ],
    [
      { ...begun, respondedAt: "2026-05-06", resolvedAt: "2026-05-05" },
      /resolved at .*, before the response/,
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
      () => postmortem(begun).finding("x", undefined as never),
      /Can't rest a statement on undefined/,
    ],
    [
      () => postmortem(begun).finding("x", weeklyCounts() as never),
      /Can't rest a statement on a Result \(wrap it: table\(result\)\)/,
    ],
    [
      () => postmortem(begun).finding("x", Promise.resolve() as never),
      /a Promise \(is an await missing\?\)/,
    ],
    [
      () => postmortem(begun).finding("x", [chart.area(weeklyCounts())] as never),
      /a list \(pass its members one by one\)/,
    ],
    [
      () => postmortem(undefined as never),
      /Can't write undefined into a postmortem: pass its fields/,
    ],
    [() => postmortem(begun).action({ what: "x", onwer: "y" } as never), /did you mean owner\?/i],
    [
      () => postmortem(begun).action({ what: "x", done: "no" } as never),
      /done: "no": pass true or false/,
    ],
    [() => postmortem(begun).action(undefined as never), /Can't add an action item/],
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
    [() => postmortem(begun).action({ what: " " }), /" " as an action item/],
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

  test("as a notebook shows it: what the severity demands, what nobody has written", () => {
    const shown = String(report());
    expect(shown).toMatch(/- \[x\] Response: done/);
    expect(shown).toMatch(/- \[ \] Conference call: not recorded/);
    expect(shown).toMatch(
      /^# .*\n\nDraft\. Still missing: root causes, trigger, detection, resolution\.\n/,
    );
    expect(shown).toMatch(/- \[ \] Postmortem: not complete/);
    expect(shown).toMatch(/- \[ \] Sterile investigation: not recorded/);
    expect(shown).not.toMatch(/Call leader/); // severity 2 demands none
    expect(shown).not.toMatch(/## Trigger/);
    const complete = report().set({
      call: "2026-03-20 09:30",
      sterile: true,
      rootCauses: "a",
      trigger: "b",
      detection: "c",
      resolution: "d",
    });
    expect(String(complete)).toMatch(/- \[x\] Postmortem: done/);
    expect(String(complete)).not.toMatch(/\[ \]/);
  });

  test("says how many timeline entries rest on nothing, and is not written before they do", () => {
    const complete = () =>
      report().set({ rootCauses: "a", trigger: "b", detection: "c", resolution: "d" });
    const one = complete().timeline("2026-03-20", "Somebody looks");
    expect(String(one)).toMatch(/^Draft\. Still missing: data for 1 timeline entry\.$/m);
    const two = report().timeline("2026-03-20", "Somebody looks").timeline("2026-03-21", "Again");
    expect(String(two)).toMatch(
      /missing: root causes, trigger, detection, resolution, data for 2 timeline entries\.$/m,
    );
    expect(String(complete())).toMatch(/- \[x\] Postmortem: done$/m);
  });

  test("a timeline entry at midnight has its time, as the others have", () => {
    const shown = String(
      report().timeline("2026-03-19", "Midnight", "https://alerts.example.org/2"),
    );
    expect(shown).toMatch(/\| 2026-03-19 00:00 \| Midnight \|/);
    expect(shown).toMatch(/\| 2026-03-20 08:40 \| Alarm \|/);
  });
});

describe("figureName(text, taken)", () => {
  test("is no device of Windows, whatever the title", () => {
    for (const device of ["con", "PRN", "aux", "nul", "com1", "COM¹", "LPT9", "com0", " Nul. "]) {
      const name = figureName(device, new Set());
      expect(name).toMatch(/^figure-(con|prn|aux|nul|com\d|lpt\d)$/);
      expect(figureName(device, new Set([name]))).toBe(`${name}-2`);
    }
    for (const name of ["console", "com10", "nul-2", "a-con", "com"])
      expect(figureName(name, new Set())).toBe(name);
  });
});
