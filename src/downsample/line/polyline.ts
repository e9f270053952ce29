import { Cover, type Chain } from "./cover.js";

/** Columns per pixel in which heights with their fraction are compared. */
const DETAIL = 4;

/** What a pixel of difference with anti-aliasing weighs beside one without. */
const SMOOTH = 1;

/** How much dearer a corner is for each pixel between its neighbours, so that no wide hole opens. */
const SPREAD = 0.3;

/** One series as a chain of corners in pixels, of which some can be taken out. */
export class Polyline {
  readonly #chain: Chain;
  readonly #pixels: Cover;
  readonly #smooth: Cover;

  /**
   * @param x of the corners in pixels, ascending, from 0 to below `columns` + 1.
   * @param y of the corners in pixels. @param breaks 1 where a gap follows the corner.
   */
  constructor(x: Float64Array, y: Float64Array, breaks: Uint8Array, columns: number) {
    const previous = Int32Array.from(x, (_, i) => i - 1);
    const next = Int32Array.from(x, (_, i) => (i + 1 < x.length ? i + 1 : -1));
    this.#chain = { x, y, breaks, previous, next };
    this.#pixels = new Cover(this.#chain, columns + 1, 1, true);
    this.#smooth = new Cover(this.#chain, columns + 1, DETAIL, false);
  }

  /** The corner before, −1 for none. */
  previous(corner: number): number {
    return this.#chain.previous[corner]!;
  }

  /** The corner after, −1 for none. */
  next(corner: number): number {
    return this.#chain.next[corner]!;
  }

  /** How much the picture suffers without the corner, in pixels. Not for the ends. */
  cost(corner: number): number {
    const { x, previous, next } = this.#chain;
    const span = x[next[corner]!]! - x[previous[corner]!]!;
    const cost = this.#pixels.cost(corner) + SMOOTH * this.#smooth.cost(corner);
    return cost > 0 ? cost * (1 + SPREAD * span) : cost;
  }

  /** Takes the corner out. */
  remove(corner: number): void {
    this.#pixels.remove(corner);
    this.#smooth.remove(corner);
    const from = this.previous(corner);
    const to = this.next(corner);
    this.#chain.next[from] = to;
    this.#chain.previous[to] = from;
  }
}
