import { Cover, type Chain } from "./cover.js";

/** A line to be drawn with fewer corners. */
export interface LineCorners {
  /** Pixel column of each corner, with its fraction; ascending. */
  readonly x: Float64Array;
  /** Height of each corner in pixels. */
  readonly y: Float64Array;
  /** 1 where a gap follows the corner. */
  readonly breaks: Uint8Array;
  /** 1 where the corner must stay. */
  readonly fixed: Uint8Array;
}

/** A corner whose absence changes less than this, in pixels, is not kept though there is room. */
const WORTHLESS = 0.01;

/** Columns per pixel in which heights with their fraction are compared. */
const DETAIL = 4;

/** How much dearer a corner is for each pixel between its neighbours, so that no wide hole opens. */
const SPREAD = 0.3;

/**
 * Takes corners out of several lines until at most `budget` are left, each time the one whose absence
 * changes the fewest pixels, then those that change next to nothing; 1 where a corner stays.
 */
export function simplifyLines(
  lines: readonly LineCorners[],
  columns: number,
  budget: number,
): Uint8Array[] {
  const polylines = lines.map((line) => new Polyline(line, columns));
  const kept = lines.map((line) => new Uint8Array(line.x.length).fill(1));
  const starts = [0];
  for (const line of lines) starts.push(starts.at(-1)! + line.x.length);
  let left = starts.at(-1)!;
  const lineOf = new Int32Array(left);
  const queue = new CostQueue(left);
  lines.forEach((line, number) => {
    const start = starts[number]!;
    lineOf.fill(number, start, starts[number + 1]);
    for (let i = 1; i + 1 < line.x.length; i++) {
      if (line.fixed[i] === 0) queue.set(start + i, polylines[number]!.cost(i));
    }
  });
  while (left > budget || queue.least() < WORTHLESS) {
    const item = queue.pop();
    if (item < 0) break;
    const number = lineOf[item]!;
    const start = starts[number]!;
    const line = polylines[number]!;
    kept[number]![item - start] = 0;
    left--;
    for (const near of line.remove(item - start)) {
      if (near >= 0 && queue.has(start + near)) queue.set(start + near, line.cost(near));
    }
  }
  return kept;
}

/** One series as a chain of corners, compared with the true picture in pixels and with anti-aliasing. */
class Polyline {
  readonly #chain: Chain;
  readonly #pixels: Cover;
  readonly #smooth: Cover;

  constructor({ x, y, breaks }: LineCorners, columns: number) {
    const previous = Int32Array.from(x, (_, i) => i - 1);
    const next = Int32Array.from(x, (_, i) => (i + 1 < x.length ? i + 1 : -1));
    this.#chain = { x, y, breaks, previous, next };
    this.#pixels = new Cover(this.#chain, columns + 1, 1, true);
    this.#smooth = new Cover(this.#chain, columns + 1, DETAIL, false);
  }

  /** How much the picture suffers without the corner, in pixels. Not for the ends. */
  cost(corner: number): number {
    const { x, previous, next } = this.#chain;
    const span = x[next[corner]!]! - x[previous[corner]!]!;
    const cost = this.#pixels.cost(corner) + this.#smooth.cost(corner);
    return cost > 0 ? cost * (1 + SPREAD * span) : cost;
  }

  /** Takes the corner out; gives the two corners to each side (−1 for none), whose costs change. */
  remove(corner: number): number[] {
    const { previous, next } = this.#chain;
    this.#pixels.remove(corner);
    this.#smooth.remove(corner);
    const before = previous[corner]!;
    const after = next[corner]!;
    next[before] = after;
    previous[after] = before;
    return [before, after, previous[before]!, next[after]!];
  }
}

/** Items 0 … n−1, lowest cost first, equal costs by number. An item whose cost changes is entered again. */
class CostQueue {
  /** The cost of each item; NaN where it doesn't wait. */
  readonly #costs: Float64Array;
  readonly #heap: Entry[] = [];

  constructor(items: number) {
    this.#costs = new Float64Array(items).fill(NaN);
  }

  has(item: number): boolean {
    return !Number.isNaN(this.#costs[item]!);
  }

  /** Puts the item in, or moves it to its new cost. */
  set(item: number, cost: number): void {
    if (this.#costs[item] === cost) return;
    this.#costs[item] = cost;
    const heap = this.#heap;
    const entry = { item, cost };
    let place = heap.push(entry) - 1;
    for (let up = (place - 1) >> 1; place > 0 && before(entry, heap[up]!); up = (up - 1) >> 1) {
      heap[place] = heap[up]!;
      place = up;
    }
    heap[place] = entry;
  }

  /** The lowest cost; Infinity where no item is left. */
  least(): number {
    while (this.#heap.length > 0 && this.#costs[this.#heap[0]!.item] !== this.#heap[0]!.cost) {
      this.#takeFirst();
    }
    return this.#heap[0]?.cost ?? Infinity;
  }

  /** Takes out the item of lowest cost; −1 where none is left. */
  pop(): number {
    if (this.least() === Infinity) return -1;
    const { item } = this.#heap[0]!;
    this.#costs[item] = NaN;
    this.#takeFirst();
    return item;
  }

  #takeFirst(): void {
    const heap = this.#heap;
    const entry = heap.pop()!;
    if (heap.length === 0) return;
    let place = 0;
    for (let child = 1; child < heap.length; child = 2 * place + 1) {
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, entry)) break;
      heap[place] = heap[child]!;
      place = child;
    }
    heap[place] = entry;
  }
}

interface Entry {
  readonly item: number;
  readonly cost: number;
}

function before(a: Entry, b: Entry): boolean {
  return a.cost < b.cost || (a.cost === b.cost && a.item < b.item);
}
