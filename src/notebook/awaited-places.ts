const places = new WeakMap<object, string[]>();

/** Notes that `error` came through the await at `place` (`cell 3:12:7`), innermost first. */
export function passedThrough(error: unknown, place: string): void {
  if (typeof error !== "object" || error === null) return;
  const known = places.get(error) ?? [];
  known.push(place);
  places.set(error, known);
}

/** The awaits that `error` came through, innermost first: where its own stack ends in a library. */
export function awaitedPlaces(error: unknown): readonly string[] {
  return (typeof error === "object" && error !== null ? places.get(error) : undefined) ?? [];
}
