import fc from "fast-check";

/** Small values with many ties, and now and then what breaks a line. */
export function awkwardNumber(): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: -5, max: 5 }) },
    {
      weight: 4,
      arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
    },
    { weight: 2, arbitrary: fc.constantFrom(NaN, Infinity, -Infinity, -0) },
  );
}
