/** A measurement as the service stores it, all 22 columns as text. */
export type Measurement = Record<string, string>;

/** The measurement of this number: runs of ten, one every minute from 2026-03-01 on. */
export function measurement(number: number, changes: Measurement = {}): Measurement {
  const start = Date.UTC(2026, 2, 1) + number * 60_000;
  const run = Math.floor(number / 10);
  return {
    measurement_uid: `uid-${String(number).padStart(9, "0")}`,
    report_id: `20260301T000000Z_webconnectivity_IT_${30722 + run}_n1_${run}`,
    input: `https://example.org/${number % 7}`,
    probe_cc: ["IT", "BR", "TW"][run % 3] ?? "",
    probe_asn: String(30722 + run),
    test_name: "web_connectivity",
    test_start_time: time(start - (number % 10) * 60_000),
    measurement_start_time: time(start),
    platform: "android",
    anomaly: number % 9 === 0 ? "t" : "f",
    confirmed: "f",
    msm_failure: "f",
    domain: "example.org",
    software_name: run % 2 ? "probe-android-unattended" : "probe-android",
    software_version: "3.8.5",
    test_version: "0.4.3",
    engine_name: "engine",
    engine_version: "3.19.1",
    architecture: "arm64",
    test_runtime: String((number % 40) / 4),
    test_helper_address: number % 2 ? "https://0.th.example.org" : "",
    test_helper_type: number % 2 ? "https" : "",
    ...changes,
  };
}

/** The first measurements, with one of them changed. */
export function measurements(
  count: number,
  changed = -1,
  changes: Measurement = {},
): Measurement[] {
  return Array.from({ length: count }, (_, number) =>
    measurement(number, number === changed ? changes : {}),
  );
}

/** The columns that a file must bring. */
export const REQUIRED = [
  "measurement_start_time",
  "software_name",
  "software_version",
  "test_name",
  "report_id",
  "probe_cc",
  "probe_asn",
];

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19).replace("T", " ");
}
