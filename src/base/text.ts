/** A number with its noun: "1 row", "1,204,331 rows". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/** A value as an error shows it, cut to a hundred characters. */
export function shownValue(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol") return "a symbol";
  if (isPromise(value)) return "a Promise";
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  let shown: string;
  try {
    const isNumber = typeof value === "number" || typeof value === "bigint";
    shown = isNumber ? `${value}` : (JSON.stringify(value) ?? "undefined");
  } catch {
    return "an object";
  }
  return shown.length > 100 ? `${shown.slice(0, 99)}…` : shown;
}

/** Whether it is one, of whatever library: an `await` is missing. */
export function isPromise(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}
