/** What a notebook gets from a value that shows itself. */
export async function show(value: object): Promise<Record<string, unknown>> {
  const method: unknown = Reflect.get(value, Symbol.for("Jupyter.display"));
  if (typeof method !== "function") throw new TypeError("The value doesn't show itself");
  return (await Reflect.apply(method, value, [])) as Record<string, unknown>;
}
