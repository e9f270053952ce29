/**
 * `explain` on the public incidents RS, S, L and H, as benchmarks/README.md scores them: through the
 * cells that the engine's answers become. Of RS all minutes before 0 are the baseline.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { gunzipSync } from "node:zlib";
import type { ChangeCells } from "../../src/change/cells/cells.js";
import { explainCells } from "../../src/change/cells/explain.js";
import { between } from "../../src/time/time-range.js";

type Element = Readonly<Record<string, string>>;

interface Truth {
  readonly case: string;
  readonly causes: readonly Element[];
}

interface CountCase {
  readonly case: string;
  readonly dims: readonly string[];
  readonly sizes: readonly number[];
  readonly baseline: readonly number[];
  readonly target: readonly number[];
}

interface ShareCase {
  readonly case: string;
  readonly dims: readonly string[];
  readonly values: Readonly<Record<string, readonly string[]>>;
  readonly rows: Readonly<Record<string, readonly number[]>>;
}

/** SETS names some of rs, s, l, h. Metrics `rs_f1`, `rs_comparable`, `s_f1`, `l_f1`, `h_f1` and milliseconds a case of each; prints the cases that differ. */
export function explainPublic(): Record<string, number> {
  const rows: Record<string, string | number>[] = [];
  const metrics: Record<string, number> = {};
  const sets = {
    rs: () => scored<ShareCase>("explain-rs", shareCells),
    s: () => scored<CountCase>("explain-s", countCells),
    l: () => scored<CountCase>("explain-l", countCells),
    h: () => scored<CountCase>("explain-h", countCells),
  };
  const wanted = process.env["SETS"]?.split(",");
  for (const [name, score] of Object.entries(sets)) {
    if (wanted?.includes(name) === false) continue;
    const { f1, comparable, exact, ms, cpu, cases } = score();
    if (cases === 0) continue;
    const time = { "ms a case": ms, "CPU ms a case": cpu };
    rows.push({ set: name, cases, F1: f1, comparable, "exact cases": exact, ...time });
    metrics[`${name}_f1`] = f1;
    if (name === "rs") metrics["rs_comparable"] = comparable;
    metrics[`${name}_ms`] = ms;
  }
  console.table(rows);
  return metrics;
}

function scored<Case extends { readonly case: string }>(
  set: string,
  cellsOf: (given: Case) => ChangeCells,
) {
  let [hits, extra, missed, comparable, exact, ms, cpu] = [0, 0, 0, 0, 0, 0, 0];
  const { cases, truths } = read<Case>(set);
  for (const given of cases) {
    const cells = cellsOf(given);
    const begun = performance.now();
    const spent = process.cpuUsage();
    const { causes } = explainCells(cells);
    const { user, system } = process.cpuUsage(spent);
    cpu += (user + system) / 1000;
    ms += performance.now() - begun;
    const found = causes.map(({ where }) => where as Element).filter(named);
    const labelled = truths.get(given.case)?.causes ?? [];
    const keys = labelled.map(keyOf);
    const right = found.filter((one) => keys.includes(keyOf(one))).length;
    hits += right;
    extra += found.length - right;
    missed += labelled.length - right;
    exact += Number(right === labelled.length && right === found.length);
    const [first] = found;
    comparable += Number(
      first !== undefined && labelled.some((one) => within(one, first) || within(first, one)),
    );
    if (process.env["SHOW"] !== undefined && (right < labelled.length || right < found.length)) {
      console.log(given.case, "labelled", keys.join("; "), "found", found.map(keyOf).join("; "));
    }
  }
  const many = cases.length;
  return {
    cases: many,
    f1: (2 * hits) / (2 * hits + extra + missed),
    comparable: comparable / many,
    exact: exact / many,
    ms: ms / many,
    cpu: cpu / many,
  };
}

function read<Case>(set: string): { cases: Case[]; truths: Map<string, Truth> } {
  const folder = process.env["PROBELAB_BENCHMARKS"] ?? join("..", "shared", "benchmarks");
  const file = join(folder, `${set}.jsonl.gz`);
  if (!existsSync(file)) {
    console.log(`No ${file}: ${set} is left out. PROBELAB_BENCHMARKS names the folder.`);
    return { cases: [], truths: new Map() };
  }
  const lines = <Row>(text: string): Row[] =>
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Row);
  const truths = lines<Truth>(readFileSync(join(folder, `${set}.truth.jsonl`), "utf8"));
  return {
    cases: lines<Case>(gunzipSync(readFileSync(file)).toString()),
    truths: new Map(truths.map((truth) => [truth.case, truth])),
  };
}

function named(element: Element): boolean {
  return Object.keys(element).length > 0;
}

function keyOf(element: Element): string {
  return Object.entries(element)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join("&");
}

function within(wide: Element, narrow: Element): boolean {
  return Object.entries(wide).every(([name, value]) => narrow[name] === value);
}

/** What the cells of both kinds have alike. */
const COMMON = {
  ratio: 1,
  source: "rows" as const,
  rowNoun: "rows",
  label: "Rows",
  unit: "rows",
  earlier: between("2026-05-04", "2026-05-05"),
  later: between("2026-05-05", "2026-05-06"),
  origin: {
    sql: "",
    parameters: {},
    source: "a benchmark",
    server: "",
    notes: [],
    reductions: [],
    rowsRead: 0,
    bytesRead: 0,
    seconds: 0,
    askedAt: new Date(0),
    range: between("2026-05-05", "2026-05-06"),
  },
};

function countCells({ dims, sizes, baseline, target }: CountCase): ChangeCells {
  const before = Float64Array.from(baseline);
  const after = Float64Array.from(target);
  const codes = sizes.map((size, at) => {
    const step = sizes.slice(at + 1).reduce((product, one) => product * one, 1);
    return Int32Array.from(baseline, (_, leaf) => Math.floor(leaf / step) % size);
  });
  return {
    ...COMMON,
    kind: "flow",
    leaves: { sizes, codes },
    names: dims,
    values: sizes.map((size, at) => Array.from({ length: size }, (_, k) => `${dims[at]}${k + 1}`)),
    before,
    after,
    partBefore: before,
    partAfter: after,
  };
}

function shareCells({ dims, values, rows }: ShareCase): ChangeCells {
  const places = new Map<string, number>();
  const codes: number[][] = dims.map(() => []);
  const sums: [number, number, number, number][] = [];
  rows["minute"]!.forEach((minute, row) => {
    if (minute > 0) return;
    const own = dims.map((name) => rows[name]![row]!);
    const key = own.join(" ");
    const place = places.get(key) ?? places.size;
    if (place === places.size) {
      places.set(key, place);
      own.forEach((code, at) => codes[at]!.push(code));
      sums.push([0, 0, 0, 0]);
    }
    const side = minute < 0 ? 0 : 2;
    sums[place]![side] += rows["total"]![row]!;
    sums[place]![side + 1]! += rows["bad"]![row]!;
  });
  const column = (at: number) => Float64Array.from(sums, (one) => one[at]!);
  return {
    ...COMMON,
    kind: "rate",
    unit: "share",
    leaves: {
      sizes: dims.map((name) => values[name]!.length),
      codes: codes.map((list) => Int32Array.from(list)),
    },
    names: dims,
    values: dims.map((name) => values[name]!),
    before: column(0),
    partBefore: column(1),
    after: column(2),
    partAfter: column(3),
  };
}
