/** As much as V8 lets pile up outside of its heap before it collects. */
const STEP = 64_000_000;

let uncollected = 0;
const held: { buffer?: ArrayBuffer } = {};

/**
 * Makes V8 count memory that it doesn't see or doesn't hurry for: pixels of resvg that hang on small
 * objects, what Vega and TypeScript leave behind. Unasked it collects them only when its own heap grows,
 * and a process that draws charts or runs cells would hold some hundred megabytes of dead ones.
 *
 * V8 counts array buffers. One that nobody writes to takes addresses and no memory, so each
 * time that enough has piled up a new one takes the place of the last, and V8 collects in small steps.
 */
export function collectAfter(bytes: number): void {
  uncollected += bytes;
  if (uncollected < STEP) return;
  uncollected = 0;
  held.buffer = new ArrayBuffer(STEP);
}
