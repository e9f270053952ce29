/**
 * Vega's interpreter reads `datetime(1769385600000)`, the end of a time scale, as a year, where its
 * compiler reads milliseconds; `toDate` is the same in both. @param dataflow is changed in place.
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
  const call = node as { type?: string; callee?: { name?: string }; arguments?: unknown[] };
  const isDate = call.type === "CallExpression" && call.callee?.name === "datetime";
  if (isDate && call.arguments?.length === 1) call.callee!.name = "toDate";
  Object.values(node).forEach(fixCalls);
}
