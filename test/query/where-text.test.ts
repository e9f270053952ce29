import { describe, expect, test } from "vitest";
import { logFilterText } from "../../src/logs/log-filter.js";
import { whereText } from "../../src/query/where.js";
import { prefix } from "../../src/query/prefix.js";

describe("whereText(where)", () => {
  test("says in words which rows are asked for", () => {
    expect(whereText({})).toBe("");
    expect(whereText({ software_name: "probe-cli", probe_cc: ["IT", null, ""] })).toBe(
      "software_name = probe-cli, probe_cc = IT or (none) or (empty)",
    );
    expect(whereText({ software_version: prefix("3.8"), probe_asn: [1, 2n, 3, 4, 5] })).toBe(
      "software_version = 3.8…, probe_asn = 1 or 2 or 3 or 2 more",
    );
  });

  test("of log lines too", () => {
    expect(logFilterText({})).toBe("");
    expect(
      logFilterText({ identifier: "api", priority: "err", contains: 'a "b"', matches: /x+/i }),
    ).toBe('identifier = api, priority err and worse, contains "a \\"b\\"", matches /x+/i');
  });
});
