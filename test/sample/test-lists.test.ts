import { describe, expect, it } from "vitest";
import { sampleTestList } from "../../src/sample/test-lists.js";
import { testLists } from "../../src/index.js";

describe("testLists.sample({ country, poll })", () => {
  it("gives the list of a poll, the first by default", async () => {
    const first = await testLists.sample({ country: "GE" });
    const italy = await testLists.sample({ country: "it" });
    const second = await testLists.sample({ country: "GE", poll: 2 });
    expect(first.entries).toEqual(sampleTestList("GE", 1));
    expect(italy.entries).toEqual(sampleTestList("IT", 1));
    expect(second.entries).toEqual(sampleTestList("GE", 2));
    const churns = testLists.churns([first, italy, second]);
    expect(churns.rows()).toMatchObject([{ poll: 2, country: "GE", added: 1, removed: 1 }]);
    expect(churns.column("churn")[0]).toBeCloseTo(200 / 101, 12);
    expect(() => testLists.churns([])).toThrow("without a list");
    expect(testLists.churns([first]).numRows()).toBe(0);
  });

  it("refuses what is no country, no poll, no option", async () => {
    const refused = (options: object) =>
      expect(testLists.sample(options as { country: string })).rejects;
    await refused({ country: "Georgia" }).toThrow(/pass a country of two letters/);
    await refused({ country: "GE", poll: 0 }).toThrow(/for poll 0: pass a whole number from 1/);
    await refused({ country: "GE", pol: 2 }).toThrow(/did you mean poll\?/);
  });
});
