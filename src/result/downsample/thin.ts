/** Sub-columns per pixel; half the sampling window, in sub-columns; stroke height, in pixels. */
const FINE = 2;
const HALF = 1;
const STROKE = 1.5;
/** How much a pixel counts that a later line hides. */
const HIDDEN_WEIGHT = 0.2;
/** How much sooner a corner at the edge of a pixel goes than one in its middle, through which a line without anti-aliasing runs. */
const EDGE = 0.5;

/** Lines in pixels, one after the other: their corners from left to right. */
export interface Corners {
  /** The number of a corner's line. */
  readonly line: Int32Array;
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** 1 where the line has a gap after the corner. */
  readonly ends: Uint8Array;
}

/** What a line covers at the middle of each column; low > high where it covers nothing. */
interface Cover {
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** The picture that lines are held against. */
export interface Picture {
  readonly covers: readonly Cover[];
  /** How much a pixel at the lower and at the upper edge of each column of a line counts. */
  readonly weights: readonly Cover[];
}

/** How lines are drawn: over each other or not, how long and how high in pixels. */
export interface PlotSize {
  readonly width: number;
  readonly height: number;
  readonly apart: boolean;
}

/** The corners that are left: each the lowest of a slice of the line up to one pixel wide, with the highest (itself, unless it is a band's). */
interface Thinned {
  readonly kept: Int32Array;
  readonly highest: Int32Array;
  /** The part of the lines' pixels that have another colour than in the picture, from 0 to 1. */
  readonly differs: number;
}

const emptyCover = (columns: number): Cover => ({
  low: new Float64Array(columns).fill(Infinity),
  high: new Float64Array(columns).fill(-Infinity),
});

/** The corners as a linked list for each line; corner `size` is the one that two would be merged into. */
function chained({ line, x, y, ends }: Corners) {
  const size = x.length;
  const places = Float64Array.from({ length: size + 1 }, (_, i) => (x[i] ?? 0) * FINE);
  const [low, high] = [new Float64Array(size + 1), new Float64Array(size + 1)];
  low.set(y);
  high.set(y);
  const gaps = new Uint8Array(size + 1);
  gaps.set(ends);
  const before = new Int32Array(size + 1).fill(-1);
  const after = new Int32Array(size + 1).fill(-1);
  for (let i = 1; i < size; i++) {
    if (line[i] !== line[i - 1]) continue;
    before[i] = i - 1;
    after[i - 1] = i;
  }
  return { size, line, x: places, low, high, ends: gaps, before, after };
}

type Chain = ReturnType<typeof chained>;

/** Adds the piece of a line from corner `i` to the next one to what is covered of the columns in [from, to). */
function addPiece(chain: Chain, i: number, cover: Cover, from: number, to: number): void {
  const { x, low, high, ends, after } = chain;
  const j = ends[i] || after[i]! < 0 ? i : after[i]!;
  const start = x[i]!;
  const length = x[j]! - start;
  const [low1, high1, low2, high2] = [low[i]!, high[i]!, low[j]!, high[j]!];
  const [lowSlope, highSlope] =
    length > 0 ? [(low2 - low1) / length, (high2 - high1) / length] : [0, 0];
  const first = Math.max(from, Math.ceil(start - HALF - 0.5));
  const last = Math.min(to - 1, Math.floor(start + length + HALF - 0.5));
  for (let column = first; column <= last; column++) {
    const left = Math.max(0, column + 0.5 - HALF - start);
    const right = column + 0.5 + HALF - start;
    const whole = right >= length;
    const lowLeft = low1 + left * lowSlope;
    const lowRight = whole ? low2 : low1 + right * lowSlope;
    const highLeft = high1 + left * highSlope;
    const highRight = whole ? high2 : high1 + right * highSlope;
    const at = column - from;
    const lowest = lowLeft < lowRight ? lowLeft : lowRight;
    const highest = highLeft > highRight ? highLeft : highRight;
    if (lowest < cover.low[at]!) cover.low[at] = lowest;
    if (highest > cover.high[at]!) cover.high[at] = highest;
  }
}

function coversOf(chain: Chain, lines: number, columns: number): Cover[] {
  const covers = Array.from({ length: lines }, () => emptyCover(columns));
  for (let i = 0; i < chain.size; i++) addPiece(chain, i, covers[chain.line[i]!]!, 0, columns);
  return covers;
}

/** The picture of lines. */
export function pictureOf(corners: Corners, lines: number, { width, apart }: PlotSize): Picture {
  const columns = FINE * width;
  const covers = coversOf(chained(corners), lines, columns);
  const hides = (number: number, column: number, y: number): boolean => {
    const [low, high] = [covers[number]!.low[column]!, covers[number]!.high[column]!];
    return y >= low - STROKE / 2 && y <= high + STROKE / 2;
  };
  /** How much the pixels beside an edge are seen behind the lines that are drawn later. */
  const seen = (number: number, column: number, edge: number): number => {
    let hidden = 0;
    for (const aside of [-2, -0.5, 0.5, 2]) {
      for (let later = number + 1; later < lines && !apart; later++) {
        if (!hides(later, column, edge + aside)) continue;
        hidden++;
        break;
      }
    }
    return 1 - ((1 - HIDDEN_WEIGHT) * hidden) / 4;
  };
  const weights = covers.map(({ low, high }, number): Cover => ({
    low: low.map((edge, column) => seen(number, column, edge)),
    high: high.map((edge, column) => seen(number, column, edge)),
  }));
  return { covers, weights };
}

/**
 * Drops the corners of lines whose loss changes the picture least, one after the other over all lines,
 * until `most` are left: lines that need more rows get them. With `bands` the cheaper of two: to drop
 * a corner, or to merge it with the next one of the same pixel into a corner that stands for all y from
 * the lowest to the highest.
 *
 * The picture is what the lines cover of each half pixel column, a stroke's width wide; a change counts
 * the pixels between the old and the new edges, and those less that a later line hides.
 *
 * Source: bottom-up simplification (Keogh and others, 2001; Visvalingam and Whyatt, 1993) by pixels.
 *
 * @param pinned 1 for corners that stay, alone or merged.
 */
export function thin(
  corners: Corners,
  picture: Picture,
  pinned: Uint8Array,
  most: number,
  plot: PlotSize,
  bands: boolean,
): Thinned {
  const columns = FINE * plot.width;
  const chain = chained(corners);
  const { size, line, x, low, high, ends, before, after } = chain;
  const current = coversOf(chain, picture.covers.length, columns);
  const scratch = emptyCover(columns);
  const stays = pinned.slice();
  const lowest = Int32Array.from({ length: size }, (_, i) => i);
  const highest = lowest.slice();
  // Where the corners begin and end that were merged.
  const [first, last] = [x.slice(), x.slice()];
  const link = (a: number, b: number): void => {
    if (a >= 0) after[a] = b;
    if (b >= 0) before[b] = a;
  };

  /** What the picture of a line is further off, of the columns from one corner to another, than as it was; it becomes the current one if told. */
  const change = (number: number, from: number, to: number, store: boolean): number => {
    const { low: exactLow, high: exactHigh } = picture.covers[number]!;
    const weights = picture.weights[number]!;
    const own = current[number]!;
    const left = Math.max(0, Math.ceil(x[from]! - HALF - 0.5));
    const right = Math.min(columns, Math.floor(x[to]! + HALF - 0.5) + 1);
    if (left >= right) return 0;
    scratch.low.fill(Infinity, 0, right - left);
    scratch.high.fill(-Infinity, 0, right - left);
    let i = from;
    while (before[i]! >= 0 && x[i]! > left - HALF) i = before[i]!;
    for (; i >= 0 && x[i]! < right + HALF; i = after[i]!) addPiece(chain, i, scratch, left, right);
    let sum = 0;
    for (let column = left; column < right; column++) {
      const [newLow, newHigh] = [scratch.low[column - left]!, scratch.high[column - left]!];
      const [a, b] = [exactLow[column]!, exactHigh[column]!];
      const [lowWeight, highWeight] = [weights.low[column]!, weights.high[column]!];
      sum +=
        difference(a, b, newLow, newHigh, lowWeight, highWeight) -
        difference(a, b, own.low[column]!, own.high[column]!, lowWeight, highWeight);
      if (!store) continue;
      own.low[column] = newLow;
      own.high[column] = newHigh;
    }
    return sum;
  };
  /** The change by dropping corner `k`. */
  const drop = (k: number, store: boolean): number => {
    const [p, n] = [before[k]!, after[k]!];
    link(p, n);
    const sum = change(line[k]!, p, n, store);
    if (!store) {
      before[n] = k;
      after[p] = k;
    }
    return sum;
  };
  /** The change by merging corner `k` with the next one, which stays. */
  const merge = (k: number, store: boolean): number => {
    const q = after[k]!;
    const [p, n] = [before[k]!, after[q]!];
    const kLow = low[k]! <= low[q]!;
    const kHigh = high[k]! >= high[q]!;
    const into = store ? q : size;
    const at = [kLow ? x[k]! : x[q]!, kLow ? low[k]! : low[q]!, kHigh ? high[k]! : high[q]!];
    [x[into], low[into], high[into]] = at as [number, number, number];
    ends[into] = ends[q]!;
    before[into] = after[into] = -1;
    link(p, into);
    link(into, n);
    const sum = change(line[k]!, p < 0 ? into : p, n < 0 ? into : n, store);
    if (!store) {
      link(p, k);
      link(q, n);
      return sum;
    }
    first[q] = first[k]!;
    stays[q] = stays[q]! | stays[k]!;
    if (kLow) lowest[q] = lowest[k]!;
    if (kHigh) highest[q] = highest[k]!;
    return sum;
  };

  const cost = new Float64Array(size);
  const merges = new Uint8Array(size);
  const price = (k: number): void => {
    const middle = 1 - 2 * Math.abs(((x[k]! / FINE) % 1) - 0.5);
    cost[k] = stays[k] ? Infinity : drop(k, false) * (1 - EDGE + EDGE * middle);
    merges[k] = 0;
    const q = after[k]!;
    if (!bands || q < 0 || ends[k] || last[q]! - first[k]! > FINE) return;
    const merged = merge(k, false);
    if (merged >= cost[k]) return;
    cost[k] = merged;
    merges[k] = 1;
  };
  for (let k = 0; k < size; k++) price(k);
  const left = new Uint8Array(size).fill(1);
  const matches = tournament(cost);
  for (let many = size; many > most; many--) {
    const k = matches.cheapest();
    if (cost[k] === Infinity) break;
    const [p, q] = [before[k]!, after[k]!];
    if (merges[k]) merge(k, true);
    else drop(k, true);
    left[k] = 0;
    cost[k] = Infinity;
    matches.update(k);
    const around = [p, q, p < 0 ? -1 : before[p]!, q < 0 ? -1 : after[q]!];
    for (const corner of around) {
      if (corner < 0) continue;
      price(corner);
      matches.update(corner);
    }
  }
  const kept = Int32Array.from(lowest.keys()).filter((k) => left[k]);
  return {
    kept: kept.map((k) => lowest[k]!),
    highest: kept.map((k) => highest[k]!),
    differs: differing(picture.covers, current, plot),
  };
}

/** Pixels of a column by which what is covered differs from [low, high]. */
function difference(
  low: number,
  high: number,
  newLow: number,
  newHigh: number,
  lowWeight: number,
  highWeight: number,
): number {
  if (!(low <= high)) return newLow <= newHigh ? newHigh - newLow + STROKE : 0;
  if (!(newLow <= newHigh)) return highWeight * (high - low + STROKE);
  const shifted = lowWeight * Math.abs(low - newLow) + highWeight * Math.abs(high - newHigh);
  const apart = highWeight * (high - low + newHigh - newLow + 2 * STROKE);
  return shifted < apart ? shifted : apart;
}

/** The part of the pixels of lines that have another colour. */
function differing(
  exact: readonly Cover[],
  drawn: readonly Cover[],
  { width, height, apart }: PlotSize,
): number {
  const all = exact.map((_, number) => number);
  let [lit, changed] = [0, 0];
  for (const numbers of apart ? all.map((number) => [number]) : [all]) {
    const paint = (covers: readonly Cover[], column: number): Int32Array => {
      const pixels = new Int32Array(height);
      for (const number of numbers) {
        const [low, high] = [covers[number]!.low[column]!, covers[number]!.high[column]!];
        if (low > high) continue;
        const from = Math.max(0, Math.round(low - STROKE / 2));
        pixels.fill(number + 1, from, Math.max(from + 1, Math.round(high + STROKE / 2)));
      }
      return pixels;
    };
    for (let column = 0; column < FINE * width; column++) {
      const [before, after] = [paint(exact, column), paint(drawn, column)];
      for (let y = 0; y < height; y++) {
        if (before[y] !== 0) lit++;
        if (before[y] !== after[y]) changed++;
      }
    }
  }
  return lit === 0 ? 0 : changed / lit;
}

/**
 * The cheapest of the numbers from 0 by their cost, of equal ones the first: a tournament, whose winners
 * are held from the leaves up. Its `update` is for a number whose cost has changed.
 */
function tournament(cost: Float64Array) {
  const leaves = 2 ** Math.ceil(Math.log2(Math.max(1, cost.length)));
  const winners = new Int32Array(2 * leaves);
  const costOf = (item: number): number => (item < cost.length ? cost[item]! : Infinity);
  const play = (match: number): number => {
    const [a, b] = [winners[2 * match]!, winners[2 * match + 1]!];
    return costOf(b) < costOf(a) ? b : a;
  };
  for (let item = 0; item < leaves; item++) winners[leaves + item] = item;
  for (let match = leaves - 1; match > 0; match--) winners[match] = play(match);
  return {
    cheapest: (): number => winners[1]!,
    update: (item: number): void => {
      for (let match = (leaves + item) >> 1; match > 0; match >>= 1) {
        const before = winners[match]!;
        const winner = play(match);
        // Above, nothing changes where another had won, and does so still.
        if (winner === before && winner !== item) return;
        winners[match] = winner;
      }
    },
  };
}
