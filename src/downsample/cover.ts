/** A chain of corners of which some may have been taken out. */
export interface Chain {
  /** In pixels from the left, ascending. */
  readonly x: Float64Array;
  /** In pixels from the top. */
  readonly y: Float64Array;
  /** 1 where a gap follows the corner. */
  readonly breaks: Uint8Array;
  /** The corner before and after, −1 for none. */
  readonly previous: Int32Array;
  readonly next: Int32Array;
}

/** Which heights a line covers in each column, in the true picture and now, and the difference. */
export class Cover {
  readonly #chain: Chain;
  readonly #column: Int32Array;
  /** Columns per pixel. */
  readonly #detail: number;
  /** True for whole pixels without anti-aliasing, false for heights with their fraction. */
  readonly #whole: boolean;
  readonly #trueLow: Float64Array;
  readonly #trueHigh: Float64Array;
  readonly #low: Float64Array;
  readonly #high: Float64Array;
  readonly #wrong: Float64Array;

  constructor(chain: Chain, columns: number, detail: number, whole: boolean) {
    this.#chain = chain;
    this.#detail = detail;
    this.#whole = whole;
    this.#column = Int32Array.from(chain.x, (x) => Math.floor(x * detail));
    const size = columns * detail + 1;
    this.#low = new Float64Array(size).fill(Infinity);
    this.#high = new Float64Array(size).fill(-Infinity);
    this.#wrong = new Float64Array(size);
    if (chain.x.length > 0) this.#fill(0, chain.x.length - 1, -1);
    this.#trueLow = this.#low.slice();
    this.#trueHigh = this.#high.slice();
  }

  /** By how many pixels more the picture would differ without the corner. */
  cost(corner: number): number {
    const from = this.#chain.previous[corner]!;
    const to = this.#chain.next[corner]!;
    this.#fill(from, to, corner);
    let cost = 0;
    for (let k = this.#column[from]!; k <= this.#column[to]!; k++) {
      cost += this.#difference(k) - this.#wrong[k]!;
    }
    return cost / this.#detail;
  }

  /** Takes note that the corner is about to leave the chain. */
  remove(corner: number): void {
    const from = this.#chain.previous[corner]!;
    const to = this.#chain.next[corner]!;
    this.#fill(from, to, corner);
    for (let k = this.#column[from]!; k <= this.#column[to]!; k++) {
      this.#wrong[k] = this.#difference(k);
    }
  }

  #difference(column: number): number {
    const low = this.#low[column]!;
    const high = this.#high[column]!;
    const trueLow = this.#trueLow[column]!;
    const trueHigh = this.#trueHigh[column]!;
    if (trueLow > trueHigh) return low > high ? 0 : high - low + 1;
    if (low > high) return trueHigh - trueLow + 1;
    if (this.#whole && (low > trueHigh || high < trueLow)) {
      return high - low + trueHigh - trueLow + 2;
    }
    return Math.abs(low - trueLow) + Math.abs(high - trueHigh);
  }

  /** Fills #low and #high for the columns of the corners `from` to `to`, without `skip`. */
  #fill(from: number, to: number, skip: number): void {
    const { y, breaks, previous, next } = this.#chain;
    const column = this.#column;
    const start = column[from]!;
    const end = column[to]!;
    for (let k = start; k <= end; k++) {
      this.#low[k] = Infinity;
      this.#high[k] = -Infinity;
    }
    let corner = from;
    while (column[corner]! >= start && previous[corner]! >= 0) corner = previous[corner]!;
    for (;;) {
      const at = column[corner]!;
      if (at >= start && at <= end)
        this.#point(at, this.#whole ? Math.floor(y[corner]!) : y[corner]!);
      let after = next[corner]!;
      if (after === skip && after >= 0) after = next[after]!;
      if (after < 0 || at > end) return;
      if (breaks[corner] === 0 && at !== column[after]) {
        if (this.#whole) this.#pixels(corner, after, start, end);
        else this.#segment(corner, after, start, end);
      }
      corner = after;
    }
  }

  /** Bresenham's line, column by column. */
  #pixels(a: number, b: number, start: number, end: number): void {
    const first = this.#column[a]!;
    const last = this.#column[b]!;
    const ya = Math.floor(this.#chain.y[a]!);
    const yb = Math.floor(this.#chain.y[b]!);
    const dx = last - first;
    const dy = Math.abs(yb - ya);
    const sign = yb < ya ? -1 : 1;
    const to = Math.min(last, end);
    for (let k = Math.max(first, start); k <= to; k++) {
      const i = k - first;
      if (dy <= dx) this.#point(k, ya + sign * Math.floor((2 * i * dy + dx) / (2 * dx)));
      else {
        const from = i === 0 ? 0 : Math.ceil(((2 * i - 1) * dy) / (2 * dx));
        const until = i === dx ? dy : Math.ceil(((2 * i + 1) * dy) / (2 * dx)) - 1;
        this.#point(k, ya + sign * from);
        this.#point(k, ya + sign * until);
      }
    }
  }

  #segment(a: number, b: number, start: number, end: number): void {
    const { x, y } = this.#chain;
    const first = this.#column[a]!;
    const last = this.#column[b]!;
    const slope = (y[b]! - y[a]!) / (x[b]! - x[a]!) / this.#detail;
    const base = y[a]! - slope * x[a]! * this.#detail;
    const to = Math.min(last, end);
    for (let k = Math.max(first, start); k <= to; k++) {
      if (k > first) this.#point(k, base + slope * k);
      if (k < last) this.#point(k, base + slope * (k + 1));
    }
  }

  #point(column: number, y: number): void {
    if (y < this.#low[column]!) this.#low[column] = y;
    if (y > this.#high[column]!) this.#high[column] = y;
  }
}
