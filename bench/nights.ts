/**
 * `lab.anomalies` hour by hour: eight losses of 11 hours and the 13 hours after each, twelve quiet days,
 * and alarms on weeks in which nothing was lost, on three sizes of a service whose release rolls out.
 * SEED names another service, SEEDS how many quiet ones are asked, SIZES their rows an hour. Every hour
 * of the size of 3,000 is asked, of others every third.
 */
import { service, START, HOUR, type Leaf, type Service } from "./nights/service.js";
import { flowAnomalies, lookAt, STATED } from "../src/service/anomalies.js";
import { between } from "../src/time/time-range.js";
import { report } from "./support/report.js";

const SIZES = (process.env["SIZES"] ?? "300,3000,30000").split(",").map(Number);
const DAY = 24;
const WEEKS = 11;
/** A Thursday at 10:00, and twelve days before it without a loss. */
const BEGIN = (WEEKS - 1) * 168 + 3 * DAY + 10;
const LENGTH = 11;
const ASKED = 24;
const QUIET_DAYS = 12;
const QUIET_WEEKS = 20;

/** Which share of a leaf's runs, or of its rows, a loss leaves. */
const LOSSES: Readonly<Record<string, (leaf: Leaf) => number>> = {
  "all −30 %": () => 0.7,
  "a country (5 %)": ({ probe_cc }) => Number(probe_cc !== "IT"),
  "a program (7 %)": ({ software_name }) => Number(software_name !== "probe-cli"),
  "a program in a country (4 %)": ({ software_name, probe_cc }) =>
    Number(software_name !== "probe-android" || probe_cc !== "IN"),
  "half of a program (3.5 %)": ({ software_name }) => (software_name === "probe-cli" ? 0.5 : 1),
  "a network (3.7 %)": ({ probe_asn }) => Number(probe_asn !== "401"),
  "a test (12 %)": () => 0.88,
  "ingestion stopped": () => 0,
};
const LETTERS: Readonly<Record<string, string>> = {
  dropping: "D",
  silent: "S",
  recovered: "o",
  unsure: "?",
  usual: ".",
  unknown: "u",
};

const seed = Number(process.env["SEED"] ?? 1);
const seeds = Number(process.env["SEEDS"] ?? 4);
const rows: Record<string, string | number>[] = [];
const metrics = {
  ...{ false_over: 0, taken_back: 0, recovery_hours: 0, half_program_hours: 0, network_hours: 0 },
  ...{ false_alarm_ratio: 0, quiet_changes: 0 },
};
for (const size of SIZES) {
  const base = service(size, WEEKS, seed);
  const hours: number[] = [];
  for (const [loss, left] of Object.entries(LOSSES)) {
    const lost = base.lose(BEGIN, BEGIN + LENGTH, left);
    const states = await statesOf(lost, BEGIN + 1, ASKED, size === 3_000 ? 1 : 3);
    const [during, after] = [states.slice(0, LENGTH), states.slice(LENGTH)];
    const seen = during.search(/[DS]/);
    const over = after.search("o");
    // What wasn't seen can't be over; what was usual before the loss isn't told over it.
    const falseOver = seen < 0 ? 0 : during.slice(seen).replaceAll(/[^o]/g, "").length;
    const takenBack = seen >= 0 && /o.*[DS?]/.test(after);
    if (seen >= 0 && size === 3_000) hours.push(over < 0 ? after.length : over + 1);
    metrics.false_over += falseOver;
    metrics.taken_back += Number(takenBack);
    const until = seen < 0 ? ASKED : seen + 1;
    if (size === 3_000 && loss.startsWith("half")) metrics.half_program_hours = until;
    if (size === 3_000 && loss.startsWith("a network")) metrics.network_hours = until;
    rows.push({ size, asked: loss, during, after });
  }
  if (hours.length > 0)
    metrics.recovery_hours = hours.reduce((sum, each) => sum + each, 0) / hours.length;
  const quiet = await statesOf(base, BEGIN - QUIET_DAYS * DAY, QUIET_DAYS * DAY, 6);
  const changes = [...quiet.replaceAll(" ", "")].filter(
    (state, at, all) => at > 0 && state !== all[at - 1],
  ).length;
  metrics.quiet_changes = Math.max(metrics.quiet_changes, changes);
  for (let at = 0; at < quiet.length; at += 144)
    rows.push({
      size,
      asked: `quiet, day ${at / 24 + 1} to ${at / 24 + 6}`,
      during: quiet.slice(at, at + 144).replaceAll(" ", ""),
      after: "",
    });
  let [alarms, weeks] = [0, 0];
  for (let other = 1; other <= seeds; other++) {
    alarms += await quietAlarms(service(size, QUIET_WEEKS, 100 * seed + other));
    weeks += QUIET_WEEKS - 8;
  }
  const ratio = alarms / ((weeks / 4) * STATED);
  metrics.false_alarm_ratio = Math.max(metrics.false_alarm_ratio, ratio);
  rows.push({
    size,
    asked: `${alarms} alarms in ${weeks} quiet weeks`,
    during: `${ratio.toFixed(2)} of the stated`,
    after: "",
  });
}
report("nights", rows, metrics);

function asked(flow: Service, end: number, hours: number) {
  const now = new Date(START + end * HOUR);
  const range = between(new Date(+now - hours * HOUR), now);
  return { range, measurements: flow.measurements, freshness: () => flow.freshness(end) };
}

/** What `drop --last 24h` says at half past each of so many hours, a letter each. */
async function statesOf(flow: Service, first: number, hours: number, step: number) {
  let states = "";
  for (let at = first; at < first + hours; at++) {
    if ((at - first) % step !== step - 1) {
      states += " ";
      continue;
    }
    const { range, measurements, freshness } = asked(flow, at, DAY);
    const { state } = await flowAnomalies(measurements, freshness, { range });
    states += LETTERS[state]!;
  }
  return states;
}

/** All alarms of a service that lost nothing, after eight weeks. */
async function quietAlarms(flow: Service) {
  const { range, measurements } = asked(flow, QUIET_WEEKS * 168, (QUIET_WEEKS - 8) * 168);
  const given = { measurements, where: {}, signal: undefined, range, end: range.end };
  const { all } = await lookAt(given, 0);
  return all.reduce((sum, { alarms }) => sum + alarms.length, 0);
}
