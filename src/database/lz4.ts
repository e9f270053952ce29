/**
 * Decodes an LZ4 frame: Arrow's buffers as a server writes them for a user who may not ask for others.
 *
 * Written here since no kept JavaScript package decodes frames, and an addon is much for one loop.
 * Checksums are not checked: the transport has its own.
 * Source: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md and lz4_Block_format.md.
 *
 * @throws RangeError where the frame is cut or broken.
 */
export function decodeLz4(frame: Uint8Array): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  const flags = view.getUint8(4);
  if (view.getUint32(0, true) !== 0x184d2204 || flags >> 6 !== 1) throw broken();
  const [blockChecksum, sized] = [(flags & 16) !== 0, (flags & 8) !== 0];
  let out = new Uint8Array(sized ? Number(view.getBigUint64(6, true)) : 4 * frame.length);
  let filled = 0;
  const room = (more: number) => {
    if (filled + more <= out.length) return;
    const grown = new Uint8Array(Math.max(2 * out.length, filled + more));
    grown.set(out);
    out = grown;
  };
  // Magic, flags, block size, then the content's size, the dictionary's id, the header's checksum.
  let at = 6 + (sized ? 8 : 0) + ((flags & 1) !== 0 ? 4 : 0) + 1;
  for (;;) {
    const head = view.getUint32(at, true);
    at += 4;
    if (head === 0) break;
    const end = at + (head & 0x7fffffff);
    if (end > frame.length) throw broken();
    if (head >>> 31 === 1) {
      room(end - at);
      out.set(frame.subarray(at, end), filled);
      filled += end - at;
    } else {
      decodeBlock(end);
    }
    at = end + (blockChecksum ? 4 : 0);
  }
  if (sized && filled !== out.length) throw broken();
  return out.subarray(0, filled);

  /** Sequences of literals and copies of what came before, until `end`. */
  function decodeBlock(end: number): void {
    const length = (start: number): number => {
      let size = start;
      for (let next = 255; start === 15 && next === 255; size += next) next = byte();
      return size;
    };
    const byte = (): number => {
      if (at >= end) throw broken();
      return frame[at++] as number;
    };
    while (at < end) {
      const token = byte();
      const literals = length(token >> 4);
      if (at + literals > end) throw broken();
      room(literals);
      if (literals > 32) out.set(frame.subarray(at, at + literals), filled);
      else for (let i = 0; i < literals; i++) out[filled + i] = frame[at + i] as number;
      at += literals;
      filled += literals;
      if (at === end) return; // the last sequence has no copy
      const back = byte() | (byte() << 8);
      const size = length(token & 15) + 4;
      if (back === 0 || back > filled) throw broken();
      room(size);
      // A copy may reach into what it writes, so it goes byte by byte unless it is apart.
      if (back >= size && size > 32) out.copyWithin(filled, filled - back, filled - back + size);
      else for (let i = 0; i < size; i++) out[filled + i] = out[filled + i - back] as number;
      filled += size;
    }
  }
}

function broken(): RangeError {
  return new RangeError("an LZ4 frame is cut or broken");
}
