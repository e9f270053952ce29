/** A queue of items 0 … n−1, lowest cost first, equal costs by number; costs may change. */
export class CostHeap {
  readonly #costs: Float64Array;
  readonly #heap: Int32Array;
  /** Where an item stands in the heap; −1 where it doesn't. */
  readonly #places: Int32Array;
  #size = 0;

  constructor(items: number) {
    this.#costs = new Float64Array(items);
    this.#heap = new Int32Array(items);
    this.#places = new Int32Array(items).fill(-1);
  }

  /** Whether the item waits in the queue. */
  has(item: number): boolean {
    return this.#places[item]! >= 0;
  }

  /** Puts the item in, or moves it to its new cost. */
  set(item: number, cost: number): void {
    this.#costs[item] = cost;
    if (this.#places[item]! < 0) {
      this.#heap[this.#size] = item;
      this.#places[item] = this.#size++;
    }
    this.#up(this.#places[item]!);
    this.#down(this.#places[item]!);
  }

  /** The lowest cost; Infinity where no item is left. */
  least(): number {
    return this.#size > 0 ? this.#costs[this.#heap[0]!]! : Infinity;
  }

  /** Takes out the item of lowest cost; −1 where none is left. */
  pop(): number {
    if (this.#size === 0) return -1;
    const item = this.#heap[0]!;
    const last = this.#heap[--this.#size]!;
    this.#places[item] = -1;
    if (this.#size > 0) {
      this.#heap[0] = last;
      this.#places[last] = 0;
      this.#down(0);
    }
    return item;
  }

  #before(a: number, b: number): boolean {
    const difference = this.#costs[a]! - this.#costs[b]!;
    return difference < 0 || (difference === 0 && a < b);
  }

  #up(start: number): void {
    let place = start;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#before(this.#heap[place]!, this.#heap[parent]!)) return;
      this.#swap(place, parent);
      place = parent;
    }
  }

  #down(start: number): void {
    let place = start;
    for (;;) {
      const left = 2 * place + 1;
      if (left >= this.#size) return;
      const right = left + 1;
      const child =
        right < this.#size && this.#before(this.#heap[right]!, this.#heap[left]!) ? right : left;
      if (!this.#before(this.#heap[child]!, this.#heap[place]!)) return;
      this.#swap(place, child);
      place = child;
    }
  }

  #swap(a: number, b: number): void {
    const first = this.#heap[a]!;
    const second = this.#heap[b]!;
    this.#heap[a] = second;
    this.#heap[b] = first;
    this.#places[second] = a;
    this.#places[first] = b;
  }
}
