import { quantileTable } from "./draw.js";

/** A test that probes run: one value of `test_name`. */
interface ProbeTest {
  readonly name: string;
  readonly version: string;
  /** Its share of the runs. */
  readonly weight: number;
  /** What it measures: one input a measurement, or nothing to choose from. The test of URLs uses a helper. */
  readonly inputs: "urls" | "resolvers" | "stun" | "none";
  /** Measurements of a run: quantiles, in whole numbers. */
  readonly lengths: readonly number[];
  /** Milliseconds from one measurement of a run to the next: quantiles over runs. */
  readonly paces: readonly number[];
}

/** Every test, the main one first. */
export const TESTS: readonly ProbeTest[] = [
  {
    name: "web_connectivity",
    version: "0.4.3",
    weight: 60,
    inputs: "urls",
    lengths: runLengths({ median: 46, spread: 0.42, single: 0.04, most: 100 }),
    paces: lognormal(4_200, 0.45),
  },
  {
    name: "dnscheck",
    version: "0.9.2",
    weight: 8,
    inputs: "resolvers",
    lengths: runLengths({ median: 22, spread: 0.25, single: 0.02, most: 31 }),
    paces: lognormal(1_300, 0.4),
  },
  {
    name: "stunreachability",
    version: "0.4.0",
    weight: 6,
    inputs: "stun",
    lengths: runLengths({ median: 12, spread: 0.2, single: 0.02, most: 17 }),
    paces: lognormal(900, 0.4),
  },
  single(["telegram", "0.3.1"], 5, 3_000),
  single(["whatsapp", "0.11.0"], 5, 4_000),
  single(["signal", "0.2.4"], 5, 3_500),
  single(["facebook_messenger", "0.2.1"], 4, 2_500),
  single(["http_header_field_manipulation", "0.2.0"], 3, 1_200),
  single(["http_invalid_request_line", "0.2.0"], 2, 6_000),
  single(["tor", "0.4.0"], 1.5, 45_000),
  single(["psiphon", "0.6.0"], 0.5, 20_000),
];

/** A test that is one measurement a run. */
function single([name, version]: [string, string], weight: number, pace: number): ProbeTest {
  return { name, version, weight, inputs: "none", lengths: [1], paces: lognormal(pace, 0.4) };
}

/** Lengths of which a share is 1 and the rest is lognormal. */
function runLengths(shape: Record<"median" | "spread" | "single" | "most", number>): number[] {
  return quantileTable((p) => {
    if (p < shape.single) return 1;
    const rank = (p - shape.single) / (1 - shape.single);
    return Math.min(shape.most, Math.max(2, shape.median * Math.exp(shape.spread * normal(rank))));
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
