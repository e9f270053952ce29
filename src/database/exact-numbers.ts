import type { Value } from "../result/result.js";

/** Integers of 64 bits as numbers where all are within 2^53, else the bigints; other values as they are. */
export function exactNumbers(values: ArrayLike<Value>): ArrayLike<Value> {
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    return exactArray(values);
  }
  if (ArrayBuffer.isView(values) || typeof firstKnown(values) !== "bigint") return values;
  const numbers: Value[] = new Array<Value>(values.length);
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    const number = typeof value === "bigint" ? Number(value) : value;
    if (typeof number === "number" && !Number.isSafeInteger(number)) return values;
    numbers[at] = number;
  }
  return numbers;
}

function firstKnown(values: ArrayLike<Value>): Value {
  let at = 0;
  while (at < values.length && (values[at] === null || values[at] === undefined)) at++;
  return values[at];
}

/** Read by halves of 32 bits: a bigint for each value would take several times as long. */
function exactArray(values: BigInt64Array | BigUint64Array): ArrayLike<Value> {
  const { buffer, byteOffset, length } = values;
  const low = new Uint32Array(buffer, byteOffset, 2 * length);
  const high =
    values instanceof BigInt64Array ? new Int32Array(buffer, byteOffset, 2 * length) : low;
  const numbers = new Float64Array(length);
  for (let at = 0; at < length; at++) {
    const number = (high[2 * at + 1] as number) * 2 ** 32 + (low[2 * at] as number);
    // Beyond 2^53 the sum is rounded, but never to within it.
    if (!Number.isSafeInteger(number)) return values;
    numbers[at] = number;
  }
  return numbers;
}
