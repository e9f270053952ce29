import { greatest } from "../base/statistics.js";
import { at, list, quantileTable, scramble } from "./draw.js";

/**
 * Countries with probes, by their share of the runs: the code as in `probe_cc`, the weight, hours ahead
 * of UTC (the sample has no daylight saving time), sites blocked in permille (invented: it says nothing
 * of the real country), the AS numbers of the largest networks.
 */
export const COUNTRIES = `
US 170 -6 4 7922 21928 701 20115 22773 7018 6167 209
RU 105 3 90 12389 25513 8402 31133 8359 3216 16345
BR 78 -3 6 28573 27699 18881 26599 262907 26615
DE 70 1 4 3320 3209 6805 8881 31334
IT 62 1 12 3269 30722 12874 1267 24608
IN 55 5 35 55836 45609 24560 9829 17488
GB 50 0 8 2856 5089 5607 13285 12576
FR 42 1 5 3215 12322 15557 5410
ID 36 7 70 7713 23693 24203 17451
ES 32 1 6 3352 12479 12430 57269
TR 29 3 60 47331 15897 16135 34984
UA 27 2 30 15895 25229 21497 13188
MX 24 -6 5 8151 28548 13999 22884
CA 22 -5 4 812 577 852 6327
NL 20 1 4 33915 1136 50266
PL 18 1 5 5617 12912 8374 29314
EG 17 2 50 8452 36992 24835 24863
IR 16 4 160 44244 197207 58224 57218
PK 15 5 55 17557 45595 59257 23674
AR 14 -3 4 7303 22927 7473
JP 13 9 3 2516 4713 17676 9605
TH 12 7 35 17552 131445 45758
MY 12 8 40 4788 9534 10030
VE 11 -4 55 8048 264731 21826
CO 11 -5 5 10620 13489 3816
SE 10 1 3 3301 1257 2119
FI 10 2 3 719 1759 50304
AU 10 10 6 1221 4804 7545
PH 9 8 8 9299 132199 4775
VN 9 7 30 7552 45899 18403
SA 9 3 60 39891 25019 35819
AE 8 4 70 5384 15802
KZ 8 5 70 9198 206026 29355
BD 8 6 45 24389 45245 58717
NG 7 1 8 29465 36873 37148
KE 7 3 6 33771 36926 36866
GR 7 2 8 6799 1241 25472
CH 7 1 4 3303 6730 15796
AT 6 1 5 8447 8412 1901
BE 6 1 4 5432 6848 12392
PT 6 0 7 3243 2860 12353
RO 6 2 5 8708 12302 9050
CZ 5 1 4 5610 16019 13036
TW 5 8 3 3462 18182 7482
KR 5 9 12 4766 3786 17858
CN 5 8 220 4134 4837 9808
HK 4 8 6 4760 9304 10118
IQ 4 3 80 201749 50710 203214
ZA 4 2 4 37457 16637 29975
CL 4 -4 4 7418 22047 27651
PE 4 -5 4 6147 12252 21575
MM 4 6 110 9988 136255 132167
BY 3 3 80 6697 25106 42772
UZ 3 5 60 28910 8193
NO 3 1 3 2119 29695
DK 3 1 5 3292 9158
HU 3 1 4 5483 21334
IE 3 0 3 5466 6830
TZ 2 3 30 36908 37133
ET 2 3 60 24757
SD 2 2 30 15706 36998
CU 2 -5 80 27725
AZ 2 4 60 29049 28787
GE 1 4 5 16010 34797
LS 1 2 3 33567
ZM 1 2 12 36962
`
  .trim()
  .split("\n")
  .map((line) => {
    const [code = "", ...numbers] = line.split(" ");
    const [weight = 0, utcOffset = 0, blocked = 0, ...networks] = numbers.map(Number);
    return { code, weight, utcOffset, blocked, networks };
  });

/** The networks, each a pair of `probe_cc` and `probe_asn`: within a country weight ~ 1 / rank (Zipf's law). */
export const NETWORKS = COUNTRIES.flatMap((country, index) => {
  const size = Math.max(country.networks.length, Math.round(6 + country.weight));
  const ranks = Array.from({ length: size }, (_, rank) => 1 / (rank + 1));
  const total = ranks.reduce((sum, share) => sum + share, 0);
  return ranks.map((share, rank) => ({
    /** Index in COUNTRIES. */
    country: index,
    // beyond the known ones: a number of the range given out since 2009
    asn: country.networks[rank] ?? 196_608 + Math.floor(scramble(index * 1_000 + rank) * 80_000),
    weight: (country.weight * share) / total,
  }));
});

/** Every test, the main one first. */
export const TESTS = [
  long(["web_connectivity", "0.4.3", "urls"], 60, [46, 0.42, 0.04, 100], [4_200, 0.45]),
  long(["dnscheck", "0.9.2", "resolvers"], 8, [22, 0.25, 0.02, 31], [1_300, 0.4]),
  long(["stunreachability", "0.4.0", "stun"], 6, [12, 0.2, 0.02, 17], [900, 0.4]),
  single(["telegram", "0.3.1"], 5, 3_000),
  single(["whatsapp", "0.11.0"], 5, 4_000),
  single(["signal", "0.2.4"], 5, 3_500),
  single(["facebook_messenger", "0.2.1"], 4, 2_500),
  single(["http_header_field_manipulation", "0.2.0"], 3, 1_200),
  single(["http_invalid_request_line", "0.2.0"], 2, 6_000),
  single(["tor", "0.4.0"], 1.5, 45_000),
  single(["psiphon", "0.6.0"], 0.5, 20_000),
];

/**
 * A test that probes run, one value of `test_name`. Its weight is its share of the runs; `lengths` are
 * the quantiles of a run's measurements, `paces` of the milliseconds from one measurement to the next.
 * The test of URLs uses a helper.
 */
function long(
  [name, version, inputs]: [name: string, version: string, "urls" | "resolvers" | "stun"],
  weight: number,
  lengths: Parameters<typeof runLengths>[0],
  pace: [median: number, spread: number],
) {
  return { name, version, weight, inputs, lengths: runLengths(lengths), paces: lognormal(...pace) };
}

/** A test that is one measurement a run. */
function single([name, version]: [string, string], weight: number, pace: number) {
  return {
    name,
    version,
    weight,
    inputs: "none",
    lengths: [1],
    paces: lognormal(pace, 0.4),
  } as const;
}

/** Lengths of which the share `single` is 1 and the rest is lognormal. */
function runLengths([median, spread, single, most]: [number, number, number, number]): number[] {
  return quantileTable((p) => {
    if (p < single) return 1;
    const rank = (p - single) / (1 - single);
    return Math.min(most, Math.max(2, median * Math.exp(spread * normal(rank))));
  });
}

function lognormal(median: number, spread: number): number[] {
  return quantileTable((p) => median * Math.exp(spread * normal(p)));
}

/** The normal distribution's quantile, by the logistic one of the same shape: near enough here. */
function normal(p: number): number {
  return Math.log(p / (1 - p)) / 1.702;
}

// What the probes measure. Every name is reserved (RFC 2606): none of them exists.
const FIRST =
  "alpine amber arctic atlas aurora bright canal capital cedar central city civic coast common daily delta eastern echo evening free global golden harbor island lake liberty local meadow metro morning mountain national north open pacific people public river silver southern sunrise valley western".split(
    " ",
  );
const SECOND =
  "news herald radio times voice forum rights post mail video chat search wiki library health games music sports bank market travel school museum vpn proxy archive watch press".split(
    " ",
  );

/** How many sites the API asks for most; a prime, as the other sizes, so that strides don't repeat. */
export const PRIORITY_SITES = 101;
const [OTHER_SITES, RESOLVERS, STUN_SERVERS] = [1103, 31, 17];

const names = (length: number, name: (index: number) => string) =>
  Array.from({ length }, (_, index) => name(index));
const sites = names(
  PRIORITY_SITES + OTHER_SITES,
  (site) => `www.${FIRST[site % FIRST.length]}-${SECOND[Math.floor(site / FIRST.length)]}.example`,
);
const resolvers = names(RESOLVERS, (index) => `dns${index + 1}.example`);
const stunServers = names(STUN_SERVERS, (index) => `stun${index + 1}.example:3478`);

/** Values of `input`: sites (those of priority first), resolvers, STUN servers, and none. */
export const INPUTS: readonly string[] = [
  ...sites.map((site) => `https://${site}/`),
  ...resolvers.map((name) => `dot://${name}/`),
  ...stunServers.map((name) => `stun://${name}`),
  "",
];

/** Values of `domain`, in the order of INPUTS. */
export const DOMAINS: readonly string[] = [...sites, ...resolvers, ...stunServers, ""];

/** Where the inputs of a test begin in INPUTS, and how many there are. */
export const INPUT_SPANS = {
  urls: { first: PRIORITY_SITES, size: OTHER_SITES },
  resolvers: { first: sites.length, size: RESOLVERS },
  stun: { first: sites.length + RESOLVERS, size: STUN_SERVERS },
  none: { first: INPUTS.length - 1, size: 1 },
} as const;

/** The app for Android and its unattended runs: version, days before the end, engine. 3.10 follows 3.9. */
const ANDROID = releases(`3.6.2 430 3.14.1, 3.7.0 338 3.15.3, 3.7.1 266 3.16.5, 3.8.0 199 3.17.2,
  3.8.1 171 3.17.5, 3.8.2 136 3.18.1, 3.9.0 103 3.19.0, 3.9.1 82 3.19.1, 3.10.0 53 3.20.0`);
/** iOS: the same releases some days later, and without 3.8.1. */
const IOS = releases(`3.6.2 426 3.14.1, 3.7.0 333 3.15.3, 3.7.1 262 3.16.5, 3.8.0 192 3.17.2,
  3.8.2 130 3.18.1, 3.9.0 99 3.19.0, 3.9.1 76 3.19.1, 3.10.0 47 3.20.0`);
const DESKTOP = releases(`3.8.4 440 3.14.1, 3.9.2 320 3.16.5, 3.9.3 214 3.17.2, 3.9.5 146 3.18.1,
  3.10.0 94 3.19.1, 3.10.1 38 3.20.0`);
/** The command line, packaged by many distributions: versions live long. */
const CLI = releases(`3.14.1 450 3.14.1, 3.16.5 300 3.16.5, 3.17.2 225 3.17.2, 3.18.1 152 3.18.1,
  3.19.1 92 3.19.1, 3.20.0 55 3.20.0`);

/** Releases, each published at 09:00 UTC so many days before the sample's end, with the engine in it. */
function releases(table: string) {
  return table.split(/,\s+/).map((text) => {
    const [version = "", days, engine = ""] = text.split(" ");
    return { version, daysBeforeEnd: Number(days), engine };
  });
}
type Release = ReturnType<typeof releases>[number];

/**
 * A kind of probe, one value of `software_name`.
 *
 * @param startedBy who starts its runs: a person by day, a timer at any time.
 * @param weight its share of the runs. @param lengthPercent measurements per run, of the test's own.
 * @param uptake how soon its users have a new release: days until half of those who update have it, the
 *   scale of the logistic curve in days, and the share of the users who update late or never.
 * @param devices platform and architecture, each as likely as the other.
 */
function probe(
  [name, startedBy]: [name: string, startedBy: "person" | "timer"],
  [weight, lengthPercent]: [weight: number, lengthPercent: number],
  releases: readonly Release[],
  uptake: readonly [median: number, scale: number, laggards: number],
  devices: string,
) {
  const platforms = devices.split(" ");
  return { name, weight, releases, uptake, lengthPercent, startedBy, platforms };
}
type Probe = ReturnType<typeof probe>;

const PHONE = "android/arm64 android/arm64 android/arm64 android/arm";
const PC = "windows/amd64 windows/amd64 windows/amd64 macos/arm64";
const SERVER = "linux/amd64 linux/amd64 linux/arm64 macos/arm64";

/** Every kind of probe, in a fixed order; the runs of the first end early since its last release. */
export const PROBES = [
  probe(["probe-android-unattended", "timer"], [60, 100], ANDROID, [8, 2.2, 0.08], PHONE),
  probe(["probe-android", "person"], [12, 110], ANDROID, [9, 2.5, 0.1], PHONE),
  probe(["probe-ios", "person"], [8, 105], IOS, [6, 1.8, 0.06], "ios/arm64"),
  probe(["probe-desktop", "person"], [11, 120], DESKTOP, [16, 4, 0.15], PC),
  probe(["probe-cli", "timer"], [9, 130], CLI, [28, 7, 0.3], SERVER),
];

/** Seconds from a release to its arrival at a user: the quantiles of `uptake`. */
export function updateDelays([median, scale, laggards]: Probe["uptake"]): number[] {
  const prompt = 1 - laggards;
  return quantileTable((p) => {
    const days =
      p < prompt
        ? median + scale * Math.log(p / (prompt - p))
        : 30 + 260 * ((p - prompt) / laggards) ** 2;
    return Math.max(0.05, days) * 86_400;
  });
}

/** SQL for a text of the release whose indexes stand in the columns `probe` and `release`. */
export function ofRelease(text: (probe: Probe, release: Release) => string): string {
  const most = greatest(PROBES.map((probe) => probe.releases.length));
  const none = { version: "", engine: "", daysBeforeEnd: 0 };
  const texts = PROBES.flatMap((probe) =>
    Array.from({ length: most }, (_, index) => text(probe, probe.releases[index] ?? none)),
  );
  return at(texts, `(probe * ${most} + release)`);
}

/** Seconds since 1970 at which a release was published; `end` in seconds, too. */
export function releasedAt(release: Release, end: number): number {
  return (Math.floor(end / 86_400) - release.daysBeforeEnd) * 86_400 + 9 * 3_600;
}

/** The DNS zone of the test helpers; `<rdn>.<zone>` is the name that probes ask for. */
export const HELPER_ZONE = "th.probe.example";
/** The names in the zone, one live instance each. */
export const HELPERS: readonly string[] = ["0", "1", "2", "3"];

const REGIONS = ["fra1", "nyc3", "sgp1", "ams3"];
const INSTANCES = 31;
/** From the making of an instance until its name points to it and the older one drains. */
const SWITCH_SECONDS = 3_600;
/** The rotation that is planted: it comes so soon after the one before it, where a week is due. */
const [HASTY, HASTY_MINUTES] = [9, 40];
/** The instance that fails more, so many measurements in a thousand: the second newest, since its name points to it. */
const [FAILING, FAILING_PERMILLE, OTHERS_PERMILLE] = [1, 60, 12];
const FAILING_HELPER = `https://${HELPERS[FAILING]}.${HELPER_ZONE}`;

/**
 * SQL that makes the test helper instances: a new one every week, some hours off, two days before
 * {end:UInt32} at the latest. It takes over the name of the oldest, which then drains.
 */
export function testHelpersInsert(table: string): string {
  return `INSERT INTO ${table} (rdn, dns_zone, name, region, draining_at)
SELECT ${list(HELPERS)}[number % ${HELPERS.length} + 1], '${HELPER_ZONE}',
  concat('th-', toString(toYYYYMMDDhhmmss(toDateTime(${madeAt("number")}, 'UTC')))),
  ${list(REGIONS)}[cityHash64({seed:UInt64}, number, 'region') % ${REGIONS.length} + 1],
  if(number < ${HELPERS.length}, NULL, toDateTime(${madeAt(`number - ${HELPERS.length}`)} + ${SWITCH_SECONDS}, 'UTC'))
FROM numbers(${INSTANCES})`;
}

/** Seconds since 1970 at which the `index`-th newest instance was made. */
function madeAt(index: string): string {
  const drawn = (at: string) =>
    `toUInt32(toUInt64({end:UInt32}) - (${at}) * 604800 - 259200 + cityHash64({seed:UInt64}, toUInt64(${at}), 'rotation') % 36000)`;
  return `if(toInt64(${index}) = ${HASTY}, ${drawn(String(HASTY + 1))} + ${HASTY_MINUTES * 60}, ${drawn(index)})`;
}

const switchedAt = (index: number) => `(${madeAt(String(index))} + ${SWITCH_SECONDS})`;

/** SQL for the failed measurements per thousand, over the columns `test_helper_address` and `started`. */
export const FAILED_PERMILLE = `if(test_helper_address = '${FAILING_HELPER}' AND started >= ${switchedAt(FAILING)}, ${FAILING_PERMILLE}, ${OTHERS_PERMILLE})`;

/** What is planted. */
export const HELPER_FAULTS = [
  {
    name: "test-helper-fails-more",
    description: "Since its last rotation a test helper fails more often than the others.",
    since: switchedAt(FAILING),
    changes: `msm_failure of ${FAILING_HELPER} from ${OTHERS_PERMILLE / 10} % to ${FAILING_PERMILLE / 10} %`,
  },
  {
    name: "test-helpers-rotated-too-quickly",
    description: "A rotation came so soon after another that DNS could not follow.",
    since: switchedAt(HASTY),
    changes: `${HASTY_MINUTES} min after the rotation before it`,
  },
];
