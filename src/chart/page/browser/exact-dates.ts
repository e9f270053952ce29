/** A node of an expression's syntax tree, as far as it matters here. */
interface Call {
  type: string;
  callee?: { name?: string };
  arguments?: unknown[];
}

/**
 * Vega's interpreter reads `datetime(1769385600000)`, which Vega-Lite writes for the ends of a time
 * scale, as a year where Vega's compiler reads milliseconds: the axis would be empty. `toDate` is
 * the same in both.
 *
 * @param dataflow what `parse` with `ast: true` gave; its expressions are changed in place.
 */
export function exactDates(dataflow: unknown): void {
  if (typeof dataflow !== "object" || dataflow === null) return;
  for (const [name, inner] of Object.entries(dataflow) as [string, unknown][]) {
    if (name === "ast") fixCalls(inner);
    else exactDates(inner);
  }
}

function fixCalls(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  const { type, callee, arguments: given } = node as Call;
  if (type === "CallExpression" && callee?.name === "datetime" && given?.length === 1) {
    callee.name = "toDate";
  }
  Object.values(node).forEach(fixCalls);
}
