import fc from "fast-check";
import { expect, it } from "vitest";
import { parseReportId } from "../../../src/index.js";

const EXAMPLE = "20231231T221448Z_webconnectivity_TW_18182_n1_zBswL4awQc3qUCnU";

/** The six parts as text, with what they mean. */
const parts = fc.record({
  instant: fc.date({
    min: new Date("0000-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59Z"),
    noInvalidDate: true,
  }),
  testName: fc.stringMatching(/^[a-z0-9]{1,20}$/),
  probeCc: fc.stringMatching(/^[A-Z]{2}$/),
  probeAsn: fc.oneof(fc.constantFrom(0, 4_294_967_295), fc.integer({ min: 0, max: 4_294_967_295 })),
  collector: fc.stringMatching(/^[A-Za-z0-9-]{1,6}$/),
  random: fc.stringMatching(/^[A-Za-z0-9]{1,20}$/),
});

it("parseReportId reads the six parts", () => {
  expect(parseReportId(EXAMPLE)).toEqual({
    timestamp: new Date("2023-12-31T22:14:48Z"),
    testName: "webconnectivity",
    probeCc: "TW",
    probeAsn: 18182,
    collector: "n1",
    random: "zBswL4awQc3qUCnU",
  });
  fc.assert(
    fc.property(parts, ({ instant, ...rest }) => {
      const timestamp = new Date(Math.floor(instant.getTime() / 1000) * 1000);
      const time = timestamp.toISOString().replace(/[-:]|\.000/g, "");
      const { testName, probeCc, probeAsn, collector, random } = rest;
      const text = [time, testName, probeCc, probeAsn, collector, random].join("_");
      expect(parseReportId(text)).toEqual({ timestamp, ...rest });
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
  [EXAMPLE.replace("webconnectivity", "Web"), /the test name "Web".*lower-case/],
  [EXAMPLE.replace("TW", "TWN"), /the probe country code "TWN".*two capital/],
  [EXAMPLE.replace("18182", "AS18182"), /the probe ASN "AS18182".*without AS/],
  [EXAMPLE.replace("18182", "018182"), /the probe ASN "018182"/],
  [EXAMPLE.replace("18182", "4294967296"), /the probe ASN "4294967296"/],
  [EXAMPLE.replace("n1", "n.1"), /the collector "n\.1"/],
  [EXAMPLE + "\n", /the random suffix "zBswL4awQc3qUCnU\\n"/],
])("parseReportId refuses %j and names the part", (text, message) => {
  expect(() => parseReportId(text)).toThrow(message);
});
