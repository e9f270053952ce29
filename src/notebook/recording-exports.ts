/** A cell's `exports` that notes in `set` which of its names were given a value. */
export function recordingExports(exports: object, set: Set<string>): object {
  const note = (name: string | symbol) => {
    if (typeof name === "string") set.add(name);
  };
  return new Proxy(exports, {
    set: (target, name, value) => {
      note(name);
      return Reflect.set(target, name, value);
    },
    defineProperty: (target, name, attributes) => {
      note(name);
      return Reflect.defineProperty(target, name, attributes);
    },
  });
}
