/** A value of a PDF as far as finding attachments goes; other values are null. */
export type PdfValue =
  | null
  | string // a name with its slash
  | number
  | PdfText
  | PdfReference
  | readonly PdfValue[]
  | PdfDictionary;

export type PdfDictionary = ReadonlyMap<string, PdfValue>;

/** A string's bytes, one a character. */
export class PdfText {
  readonly bytes: string;

  constructor(bytes: string) {
    this.bytes = bytes;
  }
}

/** The number of the object that stands elsewhere. */
export class PdfReference {
  readonly object: number;

  constructor(object: number) {
    this.object = object;
  }
}

/** A text that is no PDF value; `at` is where that was seen. */
export class PdfSyntaxError extends Error {
  readonly at: number;

  constructor(at: number) {
    super(`not a PDF value at ${at}`);
    this.at = at;
  }
}

const DEEPEST = 60;
const MOST_VALUES = 1_000_000;
const LONGEST_TEXT = 65_536;
const SPACE = /(?:[\0\t\n\f\r ]|%[^\r\n]*)*/y;
const NAME = /\/[^\0\t\n\f\r ()<>[\]{}/%]*/y;
const REFERENCE = /(\d{1,10})[\0\t\n\f\r ]+\d{1,5}[\0\t\n\f\r ]+R(?![A-Za-z0-9])/y;
const WORD = /[^\0\t\n\f\r ()<>[\]{}/%]+/y;
const HEXADECIMAL = /<([\da-f\0\t\n\f\r ]*)>/iy;

/**
 * Reads one value of a PDF.
 *
 * Source: ISO 32000-1, 7.3.
 *
 * @param text the PDF's bytes, one a character. @returns the value and the place after it.
 * @throws PdfSyntaxError for what isn't a value, or larger than any that is needed here.
 */
export function readPdfValue(text: string, start: number): { value: PdfValue; end: number } {
  let at = start;
  let count = 0;

  function match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  }

  function value(depth: number): PdfValue {
    if (depth > DEEPEST || ++count > MOST_VALUES) throw new PdfSyntaxError(at);
    match(SPACE);
    const character = text[at];
    if (character === "<" && text[at + 1] === "<") return dictionary(depth);
    if (character === "[") return list(depth);
    if (character === "(") return literal();
    if (character === "/") return name();
    const reference = match(REFERENCE);
    if (reference) return new PdfReference(Number(reference[1]));
    const digits = match(HEXADECIMAL);
    if (digits) return hexadecimal(digits[1] ?? "");
    const word = match(WORD)?.[0];
    if (word === undefined) throw new PdfSyntaxError(at);
    return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(word) ? Number(word) : null;
  }

  function name(): string {
    const raw = match(NAME)?.[0] ?? "/";
    return raw.replace(/#([\da-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    );
  }

  function dictionary(depth: number): PdfDictionary {
    at += 2;
    const entries = new Map<string, PdfValue>();
    for (;;) {
      match(SPACE);
      if (text.startsWith(">>", at)) {
        at += 2;
        return entries;
      }
      if (text[at] !== "/") throw new PdfSyntaxError(at);
      entries.set(name(), value(depth + 1));
    }
  }

  function list(depth: number): PdfValue[] {
    at += 1;
    const values: PdfValue[] = [];
    for (;;) {
      match(SPACE);
      if (text[at] === "]") {
        at += 1;
        return values;
      }
      values.push(value(depth + 1));
    }
  }

  function literal(): PdfText {
    let bytes = "";
    let open = 0;
    for (; at < text.length && bytes.length < LONGEST_TEXT; at++) {
      const character = text[at] ?? "";
      if (character === "(" && open++ === 0) continue;
      if (character === ")" && --open === 0) {
        at += 1;
        return new PdfText(bytes);
      }
      bytes += character === "\\" ? escaped() : character;
    }
    throw new PdfSyntaxError(at);
  }

  /** The character of an escape; `at` is left on its last one. */
  function escaped(): string {
    const octal = /^[0-7]{1,3}/.exec(text.slice(at + 1, at + 4))?.[0];
    at += octal?.length ?? 1;
    if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8) & 255);
    const character = text[at] ?? "";
    if (character === "\r" && text[at + 1] === "\n") at += 1;
    if (character === "\r" || character === "\n") return "";
    return { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }[character] ?? character;
  }

  return { value: value(0), end: at };
}

function hexadecimal(digits: string): PdfText {
  const even = digits.replace(/[^\da-f]/gi, "");
  return new PdfText(
    Buffer.from(even.length % 2 === 0 ? even : `${even}0`, "hex").toString("latin1"),
  );
}
