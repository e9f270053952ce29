const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes as text; what is no UTF-8 is replaced, as in any text column. */
export function textOfBytes(bytes: Uint8Array): string {
  return UTF8.decode(bytes);
}

/** A FixedString without the zero bytes that fill it up, as ClickHouse's toString writes it. */
export function fixedText(bytes: Uint8Array): string {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return textOfBytes(bytes.subarray(0, end));
}

/** A UUID's 16 bytes as text. */
export function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** An IPv4 address of 32 bits as text. */
export function ipv4Text(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}

/**
 * An IPv6 address of 16 bytes as text, as ClickHouse writes it: the first longest run of two or
 * more zero groups is `::`, an address that holds one of IPv4 ends in that.
 * Source: inet_ntop of BIND 4.9, which ClickHouse's formatIPv6 follows.
 */
export function ipv6Text(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  const groups = Array.from({ length: 8 }, (_, at) => view.getUint16(2 * at));
  const { start, length } = longestZeros(groups);
  const holdsIpv4 = start === 0 && (length === 6 || (length === 5 && groups[5] === 0xffff));
  const written = (holdsIpv4 ? groups.slice(0, 6) : groups).map((group) => group.toString(16));
  if (holdsIpv4) written.push(ipv4Text(view.getUint32(12)));
  if (length < 2) return written.join(":");
  return `${written.slice(0, start).join(":")}::${written.slice(start + length).join(":")}`;
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [at, group] of groups.entries()) {
    if (group !== 0) start = at + 1;
    else if (at + 1 - start > best.length) best = { start, length: at + 1 - start };
  }
  return best;
}

/** A whole number of 128 or 256 bits, the lowest byte first. */
export function wideInteger(bytes: Uint8Array, signed: boolean): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let value = 0n;
  for (let at = bytes.length - 8; at >= 0; at -= 8) {
    value = (value << 64n) | view.getBigUint64(at, true);
  }
  return signed ? BigInt.asIntN(8 * bytes.length, value) : value;
}

/** A BFloat16: the upper half of a Float32, the lower byte first. */
export function bfloat16(bytes: Uint8Array): number {
  return new DataView(Uint8Array.of(0, 0, bytes[0] ?? 0, bytes[1] ?? 0).buffer).getFloat32(0, true);
}
