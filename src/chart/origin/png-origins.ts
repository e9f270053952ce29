import { crc32, inflateSync } from "node:zlib";
import { damagedFile, foundOrigin, type FoundOrigin } from "./found-origin.js";

/** More than any record holds; a text that unpacks to more is no record but a bomb. */
const MOST_BYTES = 16 * 1024 * 1024;
const KEYWORD = Buffer.from("probelab\0", "latin1");
const TITLE = Buffer.from("Title\0", "latin1");

/**
 * The origins in a PNG: its iTXt chunks `probelab`, packed or not, with its `Title`.
 *
 * Source: https://www.w3.org/TR/png-3/#11iTXt
 */
export function pngOrigins(bytes: Buffer): FoundOrigin[] {
  const records: string[] = [];
  let title: string | undefined;
  let at = 8; // after the signature
  while (at + 12 <= bytes.length) {
    const length = bytes.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > bytes.length) throw damagedFile("a PNG", "ends in the middle of a chunk");
    const type = bytes.toString("latin1", at + 4, at + 8);
    if (type === "IEND") return records.flatMap((json) => foundOrigin(json, title) ?? []);
    const data = bytes.subarray(at + 8, end - 4);
    const keyword =
      type === "iTXt" ? [KEYWORD, TITLE].find((each) => begins(data, each)) : undefined;
    if (keyword !== undefined) {
      if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) {
        throw damagedFile("a PNG", "the checksum of its origin is wrong");
      }
      const text = chunkText(data.subarray(keyword.length));
      if (keyword === TITLE) title ??= text;
      else records.push(text);
    }
    at = end;
  }
  throw damagedFile("a PNG", "its end is missing");
}

function begins(data: Buffer, keyword: Buffer): boolean {
  return data.subarray(0, keyword.length).equals(keyword);
}

/** The text after the keyword: flag, method, language, translated keyword, text. */
function chunkText(data: Buffer): string {
  const language = data.indexOf(0, 2);
  const keyword = language < 0 ? -1 : data.indexOf(0, language + 1);
  if (keyword < 0) throw damagedFile("a PNG", "its origin is no iTXt chunk");
  const text = data.subarray(keyword + 1);
  if (data[0] === 0) return text.toString("utf8");
  try {
    return inflateSync(text, { maxOutputLength: MOST_BYTES }).toString("utf8");
  } catch (error) {
    throw damagedFile("a PNG", "its origin can't be unpacked, or is larger than any", error);
  }
}
