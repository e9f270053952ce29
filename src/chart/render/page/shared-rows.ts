/** Fewer are no rows of a chart, and not worth sharing. */
const FEWEST = 10;

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;

const isRow = (value: unknown): boolean =>
  !isScalar(value) && !Array.isArray(value) && Object.values(value as object).every(isScalar);

const isRows = (value: unknown): boolean =>
  Array.isArray(value) && value.length >= FEWEST && value.every(isRow);

/** The rows in a spec, each as JSON, in their order. */
export function rowsOf(spec: unknown): string[] {
  const found = new Set<string>();
  JSON.stringify(spec, (_, value: unknown): unknown => {
    if (!isRows(value)) return value;
    found.add(JSON.stringify(value));
    return undefined;
  });
  return [...found];
}

/** A spec with the place of its rows among `rows` instead of them. */
export function withoutRows(spec: unknown, rows: readonly string[]): unknown {
  return JSON.parse(
    JSON.stringify(spec, (_, value: unknown) => {
      const at = isRows(value) ? rows.indexOf(JSON.stringify(value)) : -1;
      return at < 0 ? value : { sharedRows: at };
    }),
  );
}

/** The spec that `withoutRows` was given; its rows are its own, as Vega writes into them. */
export function withRows(spec: unknown, rows: readonly string[]): unknown {
  return JSON.parse(JSON.stringify(spec), (_, value: unknown): unknown => {
    const { sharedRows } = Object(value) as { sharedRows?: number };
    return sharedRows === undefined ? value : JSON.parse(rows[sharedRows]!);
  });
}
