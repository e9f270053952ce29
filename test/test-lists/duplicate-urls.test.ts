import { describe, expect, it } from "vitest";
import { testLists } from "../../src/test-lists/test-lists.js";

describe("testLists.duplicateUrls(lists)", () => {
  it("finds a URL in several lists and twice in one, those with the most places first", () => {
    const found = testLists.duplicateUrls({
      IT: ["http://a.example/", "http://b.example/", "http://b.example/"],
      GE: [{ url: "http://a.example/" }, { url: "http://c.example/" }],
      US: [{ url: "http://a.example/" }],
    });
    expect(
      found.map(({ url, places }) => [url, places.map((p) => `${p.list} ${p.index}`)]),
    ).toEqual([
      ["http://a.example/", ["IT 0", "GE 0", "US 0"]],
      ["http://b.example/", ["IT 1", "IT 2"]],
    ]);
  });

  it("compares normal forms, and keeps the text as it is written", () => {
    const [found, ...more] = testLists.duplicateUrls({
      IT: ["HTTP://A.example:80", "https://a.example/", "http://a.example/#top"],
      GE: ["http://a.example/"],
    });
    expect(more).toEqual([]);
    expect(found?.places.map((place) => place.url)).toEqual([
      "HTTP://A.example:80",
      "http://a.example/#top",
      "http://a.example/",
    ]);
  });

  it("keeps different paths, queries and schemes apart, and takes what is no URL as it is", () => {
    const list = [
      "http://a.example/x",
      "http://a.example/X",
      "https://a.example/x",
      "http://a.example/x?1",
    ];
    expect(testLists.duplicateUrls({ IT: list })).toEqual([]);
    expect(
      testLists.duplicateUrls({ IT: ["a b", "a  b"], GE: ["a b"] }).map(({ url }) => url),
    ).toEqual(["a b"]);
    expect(testLists.duplicateUrls({})).toEqual([]);
  });
});
