import { inflateSync } from "node:zlib";
import { ProbelabError } from "../../base/error.js";
import { damagedFile, foundOrigin, type FoundOrigin } from "./found-origin.js";

const MOST_BYTES = 16 * 1024 * 1024;
const LONGEST_OBJECT = 10_000;
const MOST_OBJECTS = 10_000;
const TEXT = String.raw`\((?:[^\\()]|\\[^])*\)|<[\da-fA-F]*>`;

/**
 * The origins in a PDF as probelab writes it: its embedded files `origin.json` and `….origin.json`,
 * in the order of their names. One that another program saved anew keeps them where only a PDF
 * library finds them; so does an encrypted one.
 *
 * @param text the file's bytes, one a character.
 */
export function pdfOrigins(text: string): FoundOrigin[] {
  const files = new Map<string, { readonly name: string; readonly about: string }>();
  for (const { body } of objectsWith(text, "/Filespec")) {
    const number = /\/F (\d+) 0 R/.exec(body)?.[1];
    const name = textEntry(body, "UF") || textEntry(body, "F");
    if (number === undefined || !/(^|\.)origin\.json$/.test(name)) continue;
    files.set(number, { name, about: textEntry(body, "Desc") });
  }
  const order = new Intl.Collator("en", { numeric: true });
  const found = objectsWith(text, "/EmbeddedFile")
    .flatMap(({ number, body, end }) => {
      const file = files.get(number);
      return file ? [{ ...file, json: streamText(text, body, end, file.name) }] : [];
    })
    .sort((a, b) => order.compare(a.name, b.name))
    .flatMap(({ name, about, json }) => {
      return foundOrigin(json, name.replace(/\.?origin\.json$/, "") || about) ?? [];
    });
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

/** The content of a stream that begins at a place. */
function streamText(text: string, dictionary: string, start: number, name: string): string {
  const length = Number(/\/Length (\d+)/.exec(dictionary)?.[1] ?? 0);
  const bytes = Buffer.from(text.slice(start, start + length), "latin1");
  if (!dictionary.includes("/FlateDecode")) return bytes.toString("utf8");
  try {
    return inflateSync(bytes, { maxOutputLength: MOST_BYTES }).toString("utf8");
  } catch (error) {
    throw damagedFile("a PDF", `its attachment ${JSON.stringify(name)} can't be unpacked`, error);
  }
}

/** A text of a dictionary: in brackets or in hexadecimal digits, UTF-16 by its mark. */
function textEntry(dictionary: string, key: string): string {
  const raw = new RegExp(`/${key} ?(${TEXT})`).exec(dictionary)?.[1] ?? "";
  const inside = raw.slice(1, -1);
  const bytes = raw.startsWith("<")
    ? Buffer.from(inside, "hex")
    : Buffer.from(
        inside.replace(/\\([0-7]{1,3}|[^])/g, (_, escaped: string) =>
          /^\d/.test(escaped)
            ? String.fromCharCode(parseInt(escaped, 8) & 255)
            : ({ n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }[escaped] ?? escaped),
        ),
        "latin1",
      );
  const isUtf16 = bytes[0] === 0xfe && bytes[1] === 0xff;
  return isUtf16
    ? bytes
        .subarray(2, bytes.length & ~1)
        .swap16()
        .toString("utf16le")
    : bytes.toString("latin1");
}
