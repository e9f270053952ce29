/** A line of one series in pixels; a NaN breaks it. */
export interface PixelLine {
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Where the corners are a band's: its upper edge. */
  readonly top?: Float64Array;
}

/**
 * A picture without anti-aliasing: corners rounded down to pixels, Bresenham's line between them,
 * one byte a pixel: 0, or the number of the line that was drawn last, from 1.
 */
export function rasterise(lines: readonly PixelLine[], width: number, height: number): Uint8Array {
  const pixels = new Uint8Array(width * height);
  lines.forEach((line, number) => {
    let lastX = -1;
    let lastY = -1;
    for (let i = 0; i < line.x.length; i++) {
      if (!Number.isFinite(line.y[i]!)) {
        lastX = -1;
        continue;
      }
      const x = Math.min(width - 1, Math.floor(line.x[i]!));
      const y = Math.min(height - 1, Math.floor(line.y[i]!));
      if (line.top) fillBand(pixels, width, height, line, line.top, i, number + 1);
      if (lastX < 0) pixels[y * width + x] = number + 1;
      else if (x !== lastX || y !== lastY) draw(pixels, width, lastX, lastY, x, y, number + 1);
      lastX = x;
      lastY = y;
    }
  });
  return pixels;
}

/** The piece of a band from a corner to the next: its edges, and each pixel column between them. */
function fillBand(
  pixels: Uint8Array,
  width: number,
  height: number,
  { x, y }: PixelLine,
  top: Float64Array,
  i: number,
  colour: number,
): void {
  const across = (value: number): number => Math.min(width - 1, Math.floor(value));
  const down = (value: number): number => Math.min(height - 1, Math.floor(value));
  draw(pixels, width, across(x[i]!), down(y[i]!), across(x[i]!), down(top[i]!), colour);
  const next = i + 1;
  if (!(next < x.length) || !Number.isFinite(y[next]!)) return;
  draw(pixels, width, across(x[i]!), down(top[i]!), across(x[next]!), down(top[next]!), colour);
  for (let column = across(x[i]!) + 1; column < across(x[next]!); column++) {
    const part = (column + 0.5 - x[i]!) / (x[next]! - x[i]!);
    const from = down(top[i]! + part * (top[next]! - top[i]!));
    const to = down(y[i]! + part * (y[next]! - y[i]!));
    for (let row = from; row <= to; row++) pixels[row * width + column] = colour;
  }
}

function draw(
  pixels: Uint8Array,
  width: number,
  fromX: number,
  fromY: number,
  toX: number,
  toY: number,
  colour: number,
): void {
  const dx = Math.abs(toX - fromX);
  const dy = -Math.abs(toY - fromY);
  const stepX = fromX < toX ? 1 : -1;
  const stepY = fromY < toY ? 1 : -1;
  let error = dx + dy;
  let x = fromX;
  let y = fromY;
  for (;;) {
    pixels[y * width + x] = colour;
    if (x === toX && y === toY) return;
    const twice = 2 * error;
    if (twice >= dy) {
      error += dy;
      x += stepX;
    }
    if (twice <= dx) {
      error += dx;
      y += stepY;
    }
  }
}

/** How many pixels of two pictures of the same size differ. */
export function differing(a: Uint8Array, b: Uint8Array, bytes = 1): number {
  let count = 0;
  for (let i = 0; i < a.length; i += bytes) {
    for (let j = i; j < i + bytes; j++) {
      if (a[j] !== b[j]) {
        count++;
        break;
      }
    }
  }
  return count;
}
