import { ProbelabError } from "../../base/error.js";

/** The six parts of a report id, which is the last segment of a report's submission path too. */
export interface ReportId {
  /** When the run began; whole seconds, UTC. */
  readonly timestamp: Date;
  /** The test's name without underscores: `webconnectivity`. */
  readonly testName: string;
  /** Country code, two capitals; `ZZ` is unknown. */
  readonly probeCc: string;
  /** Number of the autonomous system, 0 to 4294967295; 0 is unknown. */
  readonly probeAsn: number;
  readonly collector: string;
  /** Random suffix that separates runs of the same second. */
  readonly random: string;
}

/** A part's form. */
const FORMS = [
  ["timestamp", /^\d{8}T\d{6}Z$/, "a UTC instant such as 20231231T221448Z"],
  ["test name", /^[a-z0-9]+$/, "lower-case letters and digits, such as webconnectivity"],
  ["probe country code", /^[A-Z]{2}$/, "two capital letters, such as TW"],
  ["probe ASN", /^(0|[1-9]\d{0,9})$/, "a number from 0 to 4294967295 without AS, such as 18182"],
  ["collector", /^[A-Za-z0-9-]+$/, "letters, digits and hyphens, such as n1"],
  ["random suffix", /^[A-Za-z0-9]+$/, "letters and digits, such as zBswL4awQc3qUCnU"],
] as const;

const EXAMPLE = "20231231T221448Z_webconnectivity_TW_18182_n1_zBswL4awQc3qUCnU";

/**
 * Reads a report id: timestamp, test name, probe country code, probe ASN, collector and random
 * suffix, joined by `_`. Strict: a test name has no underscores, a number no zero before it.
 *
 * @throws ProbelabError that names the part which can't be read.
 * @example
 * parseReportId("20231231T221448Z_webconnectivity_TW_18182_n1_zBswL4awQc3qUCnU").probeCc; // "TW"
 */
export function parseReportId(text: string): ReportId {
  const parts = String(text).split("_");
  if (typeof text !== "string" || parts.length !== FORMS.length) {
    throw new ProbelabError(
      `Can't read the report id ${JSON.stringify(text) ?? "undefined"}: it has ${parts.length} ${parts.length === 1 ? "part" : "parts"} joined by _, not 6. Pass one such as ${EXAMPLE}.`,
    );
  }
  FORMS.forEach(([name, form, wanted], index) => {
    if (!form.test(parts[index] ?? "")) throw wrongPart(text, name, parts[index] ?? "", wanted);
  });
  const [time = "", testName = "", probeCc = "", asn = "", collector = "", random = ""] = parts;
  const timestamp = new Date(
    time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
  );
  // The calendar of Date is lenient: 30 February would be 1 or 2 March.
  if (Number.isNaN(timestamp.getTime()) || formatTimestamp(timestamp) !== time) {
    throw wrongPart(text, FORMS[0][0], time, FORMS[0][2]);
  }
  const probeAsn = Number(asn);
  if (probeAsn > 0xffffffff) throw wrongPart(text, FORMS[3][0], asn, FORMS[3][2]);
  return { timestamp, testName, probeCc, probeAsn, collector, random };
}

function formatTimestamp(instant: Date): string {
  return instant.toISOString().replace(/[-:]|\.\d+/g, "");
}

function wrongPart(text: string, name: string, part: string, wanted: string): ProbelabError {
  return new ProbelabError(
    `Can't read the ${name} ${JSON.stringify(part)} of the report id ${JSON.stringify(text)}: it must be ${wanted}.`,
  );
}
