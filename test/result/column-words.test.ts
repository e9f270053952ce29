import fc from "fast-check";
import { expect, test } from "vitest";
import {
  columnsPlural,
  columnTitle,
  columnWords,
  valueWords,
} from "../../src/result/column-words.js";

test("columns are called as a person calls them", () => {
  const titles = {
    software_version: "Version",
    probe_cc: "Country",
    probe_asn: "Network",
    test_name: "Test",
    retry_count: "Retry count",
    probe_id: "Probe ID",
    dns_rtt_ms: "DNS RTT ms",
    load: "Load",
  };
  for (const [name, title] of Object.entries(titles)) expect(columnTitle(name)).toBe(title);
  expect(columnWords("probe_asn")).toBe("network");
  expect(columnsPlural(["software_version"])).toBe("versions");
  expect(columnsPlural(["probe_cc", "probe_asn"])).toBe("combinations of country and network");
  expect(columnsPlural(["retry_count"])).toBe("values of retry count");
});

test("what is no identifier in small letters is somebody's own word, and stays", () => {
  for (const name of ["n", "UserID", "retryCount", "Länder", "p 90", "_UID", "a__b", "x.y", ""]) {
    expect(columnTitle(name)).toBe(name);
    expect(columnWords(name)).toBe(name);
  }
  fc.assert(
    fc.property(fc.string(), (name) => {
      fc.pre(!/^[a-z][a-z0-9]+(_[a-z0-9]+)*$/.test(name) && name !== "t");
      expect(columnTitle(name)).toBe(name);
    }),
    { seed: 7 },
  );
  // Names that every object has are no known columns.
  expect(columnTitle("constructor")).toBe("Constructor");
});

test("networks are written AS3269, other values stay as they are", () => {
  expect(valueWords("probe_asn", 3269)).toBe("AS3269");
  expect(valueWords("probe_asn", "3269")).toBe("AS3269");
  expect(valueWords("resolver_asn", 3269n)).toBe("AS3269");
  for (const value of ["AS3269", "other", null, 1.5]) {
    expect(valueWords("probe_asn", value)).toBe(value);
  }
  expect(valueWords("casn", 3269)).toBe(3269);
  expect(valueWords("probe_cc", "12")).toBe("12");
});
