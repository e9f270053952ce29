/** Rows of one bucket that a picture needs; −1 where there is none. Reused between buckets. */
export interface Extremes {
  /** First and last row with a finite y. */
  first: number;
  last: number;
  /** The earliest row of the lowest and of the highest finite y. */
  lowest: number;
  highest: number;
  /** First and last row without a finite y. */
  firstGap: number;
  lastGap: number;
}

/** An empty record for `findExtremes` to fill. */
export function emptyExtremes(): Extremes {
  return { first: -1, last: -1, lowest: -1, highest: -1, firstGap: -1, lastGap: -1 };
}

/** Fills `out` with the extreme rows of y in [from, to), from < to. */
export function findExtremes(y: Float64Array, from: number, to: number, out: Extremes): void {
  let low = y[from]!;
  let high = low;
  let lowest = from;
  let highest = from;
  let odd = low !== low;
  for (let i = from + 1; i < to; i++) {
    const value = y[i]!;
    if (value > high) {
      high = value;
      highest = i;
    } else if (!(value >= low)) {
      // Lower than all before, or NaN: one rare branch serves both.
      if (value < low) {
        low = value;
        lowest = i;
      } else odd = true;
    }
  }
  if (odd || low === -Infinity || high === Infinity) return findAmongGaps(y, from, to, out);
  out.first = from;
  out.last = to - 1;
  out.lowest = lowest;
  out.highest = highest;
  out.firstGap = -1;
  out.lastGap = -1;
}

function findAmongGaps(y: Float64Array, from: number, to: number, out: Extremes): void {
  out.first = out.last = out.lowest = out.highest = out.firstGap = out.lastGap = -1;
  let low = Infinity;
  let high = -Infinity;
  for (let i = from; i < to; i++) {
    const value = y[i]!;
    if (value - value !== 0) {
      if (out.firstGap < 0) out.firstGap = i;
      out.lastGap = i;
      continue;
    }
    if (out.first < 0) out.first = i;
    out.last = i;
    if (value < low) {
      low = value;
      out.lowest = i;
    }
    if (value > high) {
      high = value;
      out.highest = i;
    }
  }
}
