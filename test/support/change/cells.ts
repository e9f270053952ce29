import type { ChangeCells } from "../../../src/change/cells/cells.js";
import { between } from "../../../src/time/time-range.js";
import { seeded } from "./draws.js";

/** A row of a cube: its values, what it was and is; of a share also the part of each. */
export interface Row {
  readonly values: readonly (string | null)[];
  readonly before: number;
  readonly after: number;
  readonly partBefore?: number;
  readonly partAfter?: number;
  /** Of a count the runs that its measurements are of, before and after. */
  readonly runs?: readonly [before: number, after: number];
}

/** Cells as the engine's answers become. */
export function cellsOf(
  names: readonly string[],
  rows: readonly Row[],
  kind: "flow" | "rate" = "flow",
): ChangeCells {
  const values = names.map((_, at) => [...new Set(rows.map((row) => row.values[at]!))]);
  const codes = names.map((_, at) => {
    const places = new Map(values[at]!.map((value, place) => [value, place]));
    return Int32Array.from(rows, (row) => places.get(row.values[at]!)!);
  });
  return {
    kind,
    leaves: { sizes: values.map(({ length }) => length), codes },
    names,
    values,
    before: Float64Array.from(rows, ({ before }) => before),
    after: Float64Array.from(rows, ({ after }) => after),
    partBefore: Float64Array.from(rows, ({ partBefore }) => partBefore ?? 0),
    partAfter: Float64Array.from(rows, ({ partAfter }) => partAfter ?? 0),
    ...(rows[0]?.runs && {
      runs: {
        before: Float64Array.from(rows, ({ runs }) => runs![0]),
        after: Float64Array.from(rows, ({ runs }) => runs![1]),
      },
    }),
    ratio: 1,
    label: kind === "flow" ? "Measurements" : "Share",
    unit: kind === "flow" ? "measurements" : "share",
    source: "measurements",
    rowNoun: "measurements",
    earlier: between("2026-05-01", "2026-05-08"),
    later: between("2026-05-08", "2026-05-15"),
    origin: {
      sql: "",
      parameters: {},
      source: "a test",
      server: "",
      notes: [],
      rowsRead: 0,
      bytesRead: 0,
      seconds: 0,
      askedAt: new Date(0),
      range: between("2026-05-08", "2026-05-15"),
    },
  };
}

/** All combinations of values, each with a usual size and noise; `factor` is what is planted. */
export function service(
  seed: number,
  names: readonly string[],
  sizes: readonly number[],
  factor: (values: readonly string[]) => number = () => 1,
  level = 400,
): Row[] {
  const draw = seeded(seed);
  const combine = (at: number): string[][] =>
    at === sizes.length
      ? [[]]
      : Array.from({ length: sizes[at]! }, (_, k) => `${names[at]!}${k + 1}`).flatMap((value) =>
          combine(at + 1).map((rest) => [value, ...rest]),
        );
  return combine(0).map((values) => {
    const mean = level * Math.exp(draw.normal());
    return { values, before: draw.count(mean, 5), after: draw.count(mean * factor(values), 5) };
  });
}
