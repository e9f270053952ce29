/** Points of one series, by x. */
export interface Points {
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Places of the planted spikes. */
  readonly spikes: readonly number[];
}

export const SHAPES = [
  "random walk",
  "noise with spikes",
  "smooth",
  "steps",
  "sparse with gaps",
] as const;
export type Shape = (typeof SHAPES)[number];

/** Points of a shape, always the same for the same seed. */
export function makeShape(shape: Shape, length: number, seed: number): Points {
  const random = generator(seed);
  const x = new Float64Array(length);
  const y = new Float64Array(length);
  const spikes: number[] = [];
  let level = seed * 0.3;
  let gapLeft = 0;
  for (let i = 0; i < length; i++) {
    x[i] = i;
    switch (shape) {
      case "random walk":
        level += random() - 0.5;
        y[i] = level;
        break;
      case "noise with spikes":
        y[i] = seed * 0.5 + random() + random() + random() + random() - 2;
        break;
      case "smooth":
        y[i] =
          Math.sin((i / length) * (6 + seed) + seed) +
          0.3 * Math.sin((i / length) * 41 * (1 + seed / 9));
        break;
      case "steps":
        if (random() < 60 / length) level = random() * 10;
        y[i] = level;
        break;
      case "sparse with gaps":
        // Irregular times, stretches of many lengths without a value, and single values lost.
        x[i] = (i === 0 ? 0 : x[i - 1]!) + (random() < 0.01 ? 40 * random() : random());
        level += (random() - 0.5) * (random() < 0.001 ? 40 : 1);
        if (gapLeft === 0 && random() < 30 / length)
          gapLeft = Math.floor((random() ** 3 * length) / 20);
        if (gapLeft > 0) gapLeft--;
        y[i] = gapLeft > 0 || random() < 0.0005 ? NaN : level;
        break;
    }
  }
  if (shape === "noise with spikes") {
    for (let spike = 0; spike < 11; spike++) {
      const place = Math.floor(((spike + 0.5 + 0.4 * random()) / 11.5) * length);
      y[place] = seed * 0.5 + (spike % 2 === 0 ? 1 : -1) * (6 + 3 * random());
      spikes.push(place);
    }
  }
  return { x, y, spikes };
}

/** A number from 0 up to 1, by a 32-bit generator (mulberry32). */
function generator(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
