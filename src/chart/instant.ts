/** `2026-05-01T00:00:00Z`, with milliseconds where there are any. */
export function formatInstantIso(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(".000Z", "Z");
}
