const SIGN = "9223372036854775808";

/** SQL: a Float64 as a UInt64 in the same order (−0 as 0). */
export function orderedFloat(sql: string): string {
  const bits = `reinterpretAsUInt64(${sql} + 0.)`;
  // Flips all bits of a negative number, the sign of any other.
  return `bitXor(${bits}, bitOr(toUInt64(-bitShiftRight(${bits}, 63)), ${SIGN}))`;
}

/** SQL: the Float64 back from `orderedFloat`. */
export function readFloat(sql: string): string {
  return `reinterpretAsFloat64(if(${sql} >= ${SIGN}, bitXor(${sql}, ${SIGN}), bitNot(${sql})))`;
}

/** SQL: an Int64 as a UInt64 in the same order. */
export function orderedInteger(sql: string): string {
  return `bitXor(reinterpretAsUInt64(${sql}), ${SIGN})`;
}

/** SQL: the Int64 back from `orderedInteger`. */
export function readInteger(sql: string): string {
  return `reinterpretAsInt64(bitXor(${sql}, ${SIGN}))`;
}
