import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { REPLACED_URLS, sampleTestList } from "../../src/sample/test-lists.js";
import { testLists } from "../../src/test-lists/test-lists.js";

describe("sampleTestList(country, poll)", () => {
  it("changes by one URL in a poll, but for the planted one", () => {
    for (const country of ["GE", "IT", "US", "XX"]) {
      for (let poll = 2; poll <= 40; poll += 1) {
        const before = sampleTestList(country, poll - 1);
        const { added } = testLists.changes(before, sampleTestList(country, poll));
        const planted = country === REPLACED_URLS.country && poll === REPLACED_URLS.poll;
        expect(added.length, `${country} ${poll}`).toBeGreaterThanOrEqual(
          planted ? REPLACED_URLS.urls : 1,
        );
        expect(added.length).toBeLessThanOrEqual(planted ? REPLACED_URLS.urls + 1 : 1);
      }
    }
  });

  it("holds each URL once, the highest priority first, on reserved names only", () => {
    const list = sampleTestList("GE", REPLACED_URLS.poll);
    expect(new Set(list.map(({ url }) => url)).size).toBe(list.length);
    expect(list.every(({ url }) => /^https:\/\/[\w.-]+\.example\/$/.test(url))).toBe(true);
    const priorities = list.map(({ priority }) => priority);
    expect(priorities).toEqual([...priorities].sort((a, b) => b - a));
  });
});

describe("testLists.sample({ country, poll })", () => {
  it("gives the list of a poll, the first by default", async () => {
    const first = await testLists.sample({ country: "GE" });
    const italy = await testLists.sample({ country: "it" });
    const second = await testLists.sample({ country: "GE", poll: 2 });
    expect(first.entries).toEqual(sampleTestList("GE", 1));
    expect(italy.entries).toEqual(sampleTestList("IT", 1));
    expect(second.entries).toEqual(sampleTestList("GE", 2));
    const churns = await testLists.churns([first, italy, second]);
    expect(churns.rows()).toMatchObject([{ poll: 2, country: "GE", added: 1, removed: 1 }]);
    expect(churns.column("churn")[0]).toBeCloseTo(200 / 101, 12);
    expect((await testLists.churns([first])).numRows).toBe(0);
  });

  it("refuses what is no country, no poll, no option", async () => {
    const refused = (options: object) =>
      expect(testLists.sample(options as { country: string })).rejects;
    await refused({ country: "Georgia" }).toThrow(/pass a country of two letters/);
    await refused({ country: "GE", poll: 0 }).toThrow(/for poll 0: pass a whole number from 1/);
    await refused({ country: "GE", pol: 2 }).toThrow(/did you mean poll\?/);
  });

  it("answers to its old call, each the next poll of its country, which warns", async () => {
    const get = (country: string, baseUrl = "sample:a") => testLists.fetch({ baseUrl, country });
    const warned = once(process, "warning");
    expect((await get("GE")).entries).toEqual(sampleTestList("GE", 1));
    expect((await get("it")).entries).toEqual(sampleTestList("IT", 1));
    expect((await get("GE")).entries).toEqual(sampleTestList("GE", 2));
    expect((await get("GE", "sample:b")).entries).toEqual(sampleTestList("GE", 1));
    expect(String(((await warned) as unknown[])[0])).toContain(
      "testLists.sample({ country, poll })",
    );
  });
});
