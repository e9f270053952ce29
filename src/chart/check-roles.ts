import { ProbelabError } from "../base/error.js";
import { list, type ColumnKind, type MarkType } from "./roles.js";

/** What the messages tell of a Result's columns. */
export interface Columns {
  readonly mark: MarkType;
  readonly kinds: ReadonlyMap<string, ColumnKind>;
  readonly numRows: number;
  /** Whether a question of lab gave it, which can be asked with other options; else SQL did. */
  readonly asked: boolean;
}

const THINGS: Record<MarkType, string> = {
  line: "a line",
  area: "an area",
  bar: "bars",
  points: "points",
};

/** `draw bars`. */
export function drawing(mark: MarkType): string {
  return `draw ${THINGS[mark]}`;
}

/** What a chart is refused with that lacks its x or its y. */
export function lacking(columns: Columns, x: string | undefined): ProbelabError {
  const { mark, kinds, numRows, asked } = columns;
  const names = [...kinds.keys()];
  const numbers = named(columns, ["number"]);
  const before = `Can't ${drawing(mark)} of a Result with the columns ${list(names)}: it needs a column`;
  if (numbers.length === 0) return new ProbelabError(`${before} of numbers: ${CONVERT}.`);
  if (x !== undefined) {
    const along = places(columns).filter((name) => name !== x);
    const text = named(columns, ["text"])[0];
    const instead =
      along.length > 0
        ? `pass another one as x, such as ${list(along)}`
        : text === undefined
          ? "select one in the query"
          : `use chart.bar with x: ${JSON.stringify(text)}`;
    return new ProbelabError(`${before} of numbers beside ${JSON.stringify(x)}: ${instead}.`);
  }
  const one = numRows <= 1 && mark !== "bar" ? ", or use chart.bar, which draws one bar" : "";
  const ask = asked ? 'ask with every: "auto"' : "select a time or a number in the query";
  return new ProbelabError(`${before} along the axis beside ${list(numbers)}: ${ask}${one}.`);
}

/** What a chart is refused with whose y holds no numbers. */
export function noNumbers(columns: Columns, y: string): ProbelabError {
  const numbers = named(columns, ["number"]);
  const instead =
    numbers.length === 0 ? CONVERT : `pass a column of numbers, such as ${list(numbers)}`;
  return new ProbelabError(
    `Can't ${drawing(columns.mark)} with y: ${JSON.stringify(y)}, which holds ${columns.kinds.get(y)}: ${instead}.`,
  );
}

/** What a chart is refused with whose x is its y. */
export function sameColumn({ mark, kinds }: Columns, name: string): ProbelabError {
  return new ProbelabError(
    `Can't ${drawing(mark)} with ${JSON.stringify(name)} as x and as y: pass two columns of ${list([...kinds.keys()])}, or leave out x.`,
  );
}

/** What a chart is refused with that no text can be the axis of. */
export function textAxis(columns: Columns, x: string, y: string): ProbelabError {
  const along = places(columns).filter((name) => name !== x && name !== y);
  const pass =
    along.length > 0 ? `pass a column of times or numbers as x, ${list(along)}, or ` : "";
  return new ProbelabError(
    `Can't ${drawing(columns.mark)} along ${JSON.stringify(x)}, which holds text: ${pass}use chart.bar.`,
  );
}

const CONVERT =
  "count or convert in the query (count() AS n, toFloat64OrNull(text) AS n), or show it with table";

/** The columns that can be an axis. */
function places(columns: Columns): string[] {
  return named(columns, columns.mark === "bar" ? ["time", "number", "text"] : ["time", "number"]);
}

function named({ kinds }: Columns, wanted: readonly ColumnKind[]): string[] {
  return [...kinds].filter(([, kind]) => wanted.includes(kind)).map(([name]) => name);
}
