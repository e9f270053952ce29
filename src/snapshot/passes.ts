import type { Pass } from "./held.js";

/** What of a span is still to be read: [start, end) in milliseconds. */
export type Span = readonly [start: number, end: number];

/**
 * Which pass tells of which hours: of several the newest. The spans are in order and don't overlap.
 */
export function current(passes: readonly Pass[]): Pass[] {
  let kept: Pass[] = [];
  for (const next of [...passes].sort((a, b) => +a.at - +b.at)) {
    kept = kept.flatMap((span) => [
      ...(span.start < next.start
        ? [{ ...span, end: new Date(Math.min(+span.end, +next.start)) }]
        : []),
      ...(span.end > next.end
        ? [{ ...span, start: new Date(Math.max(+span.start, +next.end)) }]
        : []),
    ]);
    kept.push(next);
  }
  return kept.sort((a, b) => +a.start - +b.start);
}

/** The parts of a span that no pass tells of, or that were read before late rows could be there. */
export function missing(passes: readonly Pass[], [start, end]: Span, late: number): Span[] {
  const spans: Span[] = [];
  let from = start;
  for (const pass of passes) {
    if (+pass.at < +pass.end + late || +pass.end <= from || +pass.start >= end) continue;
    if (+pass.start > from) spans.push([from, +pass.start]);
    from = +pass.end;
  }
  return from < end ? [...spans, [from, end]] : spans;
}
