const told = new Set<string>();

/**
 * Tells, once in a process, that a name is an old one which goes on working until 1.0.
 *
 * @param old how it was written: "chart.mark".
 * @param now what to write instead: "chart.annotation".
 * @example
 * deprecated("helperVerdict", "testHelpers.verdict"); // (probelab) helperVerdict is now testHelpers.verdict …
 */
export function deprecated(old: string, now: string): void {
  if (told.has(old)) return;
  told.add(old);
  process.emitWarning(`${old} is now ${now}; the old name works until probelab 1.0.`, {
    type: "DeprecationWarning",
    code: "PROBELAB_RENAMED",
  });
}
