import { quantileTable } from "./draw.js";

/** A test that probes run: one value of `test_name`. */
interface ProbeTest {
  readonly name: string;
  readonly version: string;
  /** Its share of the runs. */
  readonly weight: number;
  /** What it measures: one input a measurement, or nothing to choose from. */
  readonly inputs: "urls" | "resolvers" | "stun" | "none";
  /** Measurements of a run: quantiles, in whole numbers. */
  readonly lengths: readonly number[];
  /** Milliseconds from one measurement of a run to the next: quantiles over runs. */
  readonly paces: readonly number[];
  readonly usesHelper: boolean;
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
    usesHelper: true,
  },
  {
    name: "dnscheck",
    version: "0.9.2",
    weight: 8,
    inputs: "resolvers",
    lengths: runLengths({ median: 22, spread: 0.25, single: 0.02, most: 31 }),
    paces: lognormal(1_300, 0.4),
    usesHelper: false,
  },
  {
    name: "stunreachability",
    version: "0.4.0",
    weight: 6,
    inputs: "stun",
    lengths: runLengths({ median: 12, spread: 0.2, single: 0.02, most: 17 }),
    paces: lognormal(900, 0.4),
    usesHelper: false,
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
  const paces = lognormal(pace, 0.4);
  return { name, version, weight, inputs: "none", lengths: [1], paces, usesHelper: false };
}

function runLengths(shape: {
  median: number;
  spread: number;
  single: number;
  most: number;
}): number[] {
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
