import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseReportId } from "../../src/index.js";

const EXAMPLE = "20231231T221448Z_webconnectivity_TW_18182_n1_zBswL4awQc3qUCnU";

const letters = (from: string, min: number, max: number) =>
  fc
    .array(fc.constantFrom(...from), { minLength: min, maxLength: max })
    .map((chosen) => chosen.join(""));
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";

const two = (value: number) => String(value).padStart(2, "0");

/** The six parts as text, drawn one by one, with what they mean. */
const parts = fc.record({
  instant: fc.date({
    min: new Date("0000-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59Z"),
    noInvalidDate: true,
  }),
  testName: letters(LOWER + DIGITS, 1, 20),
  probeCc: letters(UPPER, 2, 2),
  probeAsn: fc.oneof(fc.constantFrom(0, 4_294_967_295), fc.integer({ min: 0, max: 4_294_967_295 })),
  collector: letters(LOWER + UPPER + DIGITS + "-", 1, 6),
  random: letters(LOWER + UPPER + DIGITS, 1, 20),
});

describe("parseReportId(text)", () => {
  it("reads the six parts of the documentation's example", () => {
    expect(parseReportId(EXAMPLE)).toEqual({
      timestamp: new Date("2023-12-31T22:14:48Z"),
      testName: "webconnectivity",
      probeCc: "TW",
      probeAsn: 18182,
      collector: "n1",
      random: "zBswL4awQc3qUCnU",
    });
  });

  it("agrees with parts that were joined by hand", () => {
    fc.assert(
      fc.property(parts, ({ instant, ...rest }) => {
        const d = new Date(Math.floor(instant.getTime() / 1000) * 1000);
        const date = `${String(d.getUTCFullYear()).padStart(4, "0")}${two(d.getUTCMonth() + 1)}${two(d.getUTCDate())}`;
        const time = `${two(d.getUTCHours())}${two(d.getUTCMinutes())}${two(d.getUTCSeconds())}`;
        const { testName, probeCc, probeAsn, collector, random } = rest;
        const text = `${date}T${time}Z_${testName}_${probeCc}_${probeAsn}_${collector}_${random}`;
        expect(parseReportId(text)).toEqual({ timestamp: d, ...rest });
      }),
      { numRuns: 300, seed: 24 },
    );
  });

  it.each([
    ["20231231T221448Z_webconnectivity_TW_18182_n1", /it has 5 parts joined by _, not 6/],
    [EXAMPLE + "_x", /it has 7 parts/],
    ["", /it has 1 part joined/],
    ["/report/" + EXAMPLE, /Can't read the timestamp "\/report\/20231231T221448Z"/],
    [EXAMPLE.replace("T221448Z", "T241448Z"), /the timestamp "20231231T241448Z"/],
    [EXAMPLE.replace("20231231", "20230230"), /the timestamp "20230230T221448Z"/],
    [EXAMPLE.replace("20231231", "20231301"), /the timestamp/],
    [EXAMPLE.replace("webconnectivity", "Web"), /the test name "Web".*lower-case/],
    [EXAMPLE.replace("webconnectivity", ""), /the test name ""/],
    [EXAMPLE.replace("TW", "tw"), /the probe country code "tw".*two capital/],
    [EXAMPLE.replace("TW", "TWN"), /the probe country code "TWN"/],
    [EXAMPLE.replace("18182", "AS18182"), /the probe ASN "AS18182".*without AS/],
    [EXAMPLE.replace("18182", "018182"), /the probe ASN "018182"/],
    [EXAMPLE.replace("18182", "4294967296"), /the probe ASN "4294967296"/],
    [EXAMPLE.replace("n1", "n.1"), /the collector "n\.1"/],
    [EXAMPLE + "\n", /the random suffix "zBswL4awQc3qUCnU\\n"/],
    [EXAMPLE + "é", /the random suffix/],
  ])("refuses %j and names the part", (text, message) => {
    expect(() => parseReportId(text)).toThrow(message);
  });
});
