import { crc32, inflateSync } from "node:zlib";
import { ProbelabError } from "../../base/error.js";

/** A record as it stands in a file. */
export interface OriginText {
  readonly json: string;
  readonly title?: string | undefined;
}

/** A file that its own format doesn't allow. @param what such as `PNG`. */
export function damagedFile(what: string, why: string, cause?: unknown): ProbelabError {
  return new ProbelabError(
    `it begins as ${what}, but ${why}: it was cut short or damaged; export it again.`,
    { cause },
  );
}

/** More than any record holds; a text that unpacks to more is no record but a bomb. */
const MOST_BYTES = 16 * 1024 * 1024;

function unpacked(bytes: Buffer, what: string, part: string): string {
  try {
    return inflateSync(bytes, { maxOutputLength: MOST_BYTES }).toString("utf8");
  } catch (error) {
    throw damagedFile(what, `${part} can't be unpacked, or is larger than any`, error);
  }
}

/** The origins in a PNG: its iTXt chunks `probelab`. Source: https://www.w3.org/TR/png-3/#11iTXt */
export function pngOrigins(bytes: Buffer): OriginText[] {
  const records: string[] = [];
  let title: string | undefined;
  let at = 8; // after the signature
  while (at + 12 <= bytes.length) {
    const end = at + 12 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw damagedFile("a PNG", "ends in the middle of a chunk");
    const type = bytes.toString("latin1", at + 4, at + 8);
    if (type === "IEND") return records.map((json) => ({ json, title }));
    const keyword = /^(?:probelab|Title)(?=\0)/.exec(
      bytes.toString("latin1", at + 8, at + 17),
    )?.[0];
    if (type === "iTXt" && keyword !== undefined) {
      if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) {
        throw damagedFile("a PNG", "the checksum of its origin is wrong");
      }
      const text = chunkText(bytes.subarray(at + 9 + keyword.length, end - 4));
      if (keyword === "Title") title ??= text;
      else records.push(text);
    }
    at = end;
  }
  throw damagedFile("a PNG", "its end is missing");
}

/** The text after the keyword: flag, method, language, translated keyword, text. */
function chunkText(data: Buffer): string {
  const language = data.indexOf(0, 2);
  const keyword = language < 0 ? -1 : data.indexOf(0, language + 1);
  if (keyword < 0) throw damagedFile("a PNG", "its origin is no iTXt chunk");
  const text = data.subarray(keyword + 1);
  return data[0] === 0 ? text.toString("utf8") : unpacked(text, "a PNG", "its origin");
}

const LONGEST_OBJECT = 10_000;
const MOST_OBJECTS = 10_000;

/**
 * The origins in a PDF as probelab writes it: its embedded files `origin.json` and `….origin.json`,
 * in the order of their names. One that another program saved anew keeps them where only a PDF
 * library finds them; so does an encrypted one.
 *
 * @param text the file's bytes, one a character.
 */
export function pdfOrigins(text: string): OriginText[] {
  const files = new Map<string, { readonly name: string; readonly about: string }>();
  for (const { body } of objectsWith(text, "/Filespec")) {
    const number = /\/F (\d+) 0 R/.exec(body)?.[1];
    const name = textEntry(body, "UF");
    if (number === undefined || !/(^|\.)origin\.json$/.test(name)) continue;
    files.set(number, { name, about: textEntry(body, "Desc") });
  }
  const order = new Intl.Collator("en", { numeric: true });
  const found = objectsWith(text, "/EmbeddedFile")
    .flatMap(({ number, body, end }) => {
      const file = files.get(number);
      if (file === undefined) return [];
      const length = Number(/\/Length (\d+)/.exec(body)?.[1] ?? 0);
      const bytes = Buffer.from(text.slice(end, end + length), "latin1");
      const json = unpacked(bytes, "a PDF", `its attachment ${JSON.stringify(file.name)}`);
      return [{ ...file, json }];
    })
    .sort((a, b) => order.compare(a.name, b.name))
    .map(({ name, about, json }) => ({
      json,
      title: name.replace(/\.?origin\.json$/, "") || about,
    }));
  if (found.length > 0) return found;
  throw new ProbelabError(
    "no origin in it as probelab writes it: a PDF that was encrypted or saved by another program doesn't show it; take the file that probelab wrote, or the same chart as .svg or .png.",
  );
}

/** Objects whose dictionary holds a name, and where the dictionary's part after it ends. */
function objectsWith(
  text: string,
  name: string,
): { readonly number: string; readonly body: string; readonly end: number }[] {
  const found = [];
  let at = text.indexOf(name);
  for (let tries = 0; at >= 0 && tries < MOST_OBJECTS; tries++, at = text.indexOf(name, at + 1)) {
    const before = text.slice(Math.max(0, at - LONGEST_OBJECT), at);
    const start = before.lastIndexOf(" 0 obj");
    const after = /endobj|stream\r?\n/.exec(text.slice(at, at + LONGEST_OBJECT));
    const number = /\d+$/.exec(before.slice(0, Math.max(0, start)))?.[0];
    if (start < 0 || after === null || number === undefined) continue;
    const end = at + after.index + after[0].length;
    found.push({ number, body: before.slice(start) + text.slice(at, end), end });
  }
  return found;
}

/** A text of a dictionary as Typst writes it: ASCII in brackets, else hexadecimal digits of UTF-16. */
function textEntry(dictionary: string, key: string): string {
  const found = new RegExp(
    `/${key} (?:\\(((?:[^\\\\()]|\\\\[^])*)\\)|<FEFF([\\dA-F]*)>)`,
    "i",
  ).exec(dictionary);
  const [, ascii = "", utf16] = found ?? [];
  if (utf16 === undefined) return ascii.replace(/\\([^])/g, "$1");
  const bytes = Buffer.from(utf16, "hex");
  return bytes
    .subarray(0, bytes.length & ~1)
    .swap16()
    .toString("utf16le");
}
