import { inflateSync } from "node:zlib";
import { damagedFile } from "./found-origin.js";
import {
  PdfReference,
  PdfSyntaxError,
  readPdfValue,
  type PdfDictionary,
  type PdfValue,
} from "./pdf-syntax.js";

/** An object of a PDF; `stream` where one follows its dictionary, packed as it stands. */
export interface PdfObject {
  readonly value: PdfValue;
  readonly stream?: string;
}

/** All that object streams of a document may unpack to. */
const MOST_BYTES = 128 * 1024 * 1024;
/** What one that can't be unpacked counts for: it may have taken as long. */
const FAILED_BYTES = 8 * 1024 * 1024;
const MOST_OBJECTS = 2_000_000;
const MOST_FAULTS = 10_000;

/**
 * The objects of a PDF by number, found by looking through the file rather than by its tables, as
 * viewers do with damaged files: so it reads what any tool has saved, incremental updates and
 * object streams too, unless it is encrypted.
 *
 * Source: ISO 32000-1, 7.3.10, 7.5.7.
 *
 * @param text the file's bytes, one a character.
 */
export function pdfObjects(text: string): Map<number, PdfObject> {
  const objects = new Map<number, PdfObject>();
  let budget = MOST_BYTES;
  let faults = 0;
  const heading = /(?<!\d)(\d{1,10})[\0\t\n\f\r ]+\d{1,5}[\0\t\n\f\r ]+obj\b/g;
  const lastEnd = text.lastIndexOf("endstream");
  for (let match = heading.exec(text); match !== null; match = heading.exec(text)) {
    const { object, end } = objectAt(text, heading.lastIndex, lastEnd);
    heading.lastIndex = end;
    if (object === undefined) {
      if (++faults > MOST_FAULTS) throw damagedFile("a PDF", "most of its objects can't be read");
      continue;
    }
    objects.set(Number(match[1]), object);
    if (objects.size > MOST_OBJECTS) throw damagedFile("a PDF", "has too many objects");
    const { value } = object;
    if (!isDictionary(value) || value.get("/Type") !== "/ObjStm" || budget <= 0) continue;
    const content = unpacked(object, budget);
    budget -= content?.length ?? FAILED_BYTES;
    for (const [number, packed] of packedObjects(value, content ?? "")) {
      objects.set(number, { value: packed });
    }
  }
  return objects;
}

/** A stream's bytes, one a character; undefined where its packing isn't known or too large. */
export function unpacked({ value, stream }: PdfObject, most: number): string | undefined {
  if (!isDictionary(value) || stream === undefined) return undefined;
  const filter = value.get("/Filter") ?? null;
  const filters = Array.isArray(filter) ? (filter as readonly PdfValue[]) : [filter];
  const [name] = filters;
  if (filters.length === 0 || name === null) return stream.length > most ? undefined : stream;
  if (filters.length > 1 || name !== "/FlateDecode") return undefined;
  try {
    const options = { maxOutputLength: Math.max(1, most), finishFlush: 2 };
    return inflateSync(Buffer.from(stream, "latin1"), options).toString("latin1");
  } catch {
    return undefined;
  }
}

export function isDictionary(value: PdfValue | undefined): value is PdfDictionary {
  return value instanceof Map;
}

/** The object whose heading ends at `start`, and where to look on. */
function objectAt(
  text: string,
  start: number,
  lastEnd: number,
): { object?: PdfObject; end: number } {
  try {
    const { value, end } = readPdfValue(text, start);
    const keyword = /[\0\t\n\f\r ]*stream(\r\n|\n|\r)/y;
    keyword.lastIndex = end;
    if (!isDictionary(value) || !keyword.test(text)) return { object: { value }, end };
    const from = keyword.lastIndex;
    const length = value.get("/Length");
    const told = typeof length === "number" && length >= 0 ? from + length : -1;
    // The length may stand in another object, or be wrong.
    const ends = told >= 0 && /^\s*endstream/.test(text.slice(told, told + 20));
    const to = ends ? told : from > lastEnd ? -1 : text.indexOf("endstream", from);
    if (to < 0) return { object: { value }, end };
    return { object: { value, stream: text.slice(from, to) }, end: to };
  } catch (error) {
    // Looking on from the object's beginning would take a hostile file's length squared.
    if (error instanceof PdfSyntaxError) return { end: Math.max(start, error.at) };
    throw error;
  }
}

function packedObjects(dictionary: PdfDictionary, content: string): [number, PdfValue][] {
  const first = dictionary.get("/First");
  if (typeof first !== "number") return [];
  const found: [number, PdfValue][] = [];
  const places = /(\d{1,10})\s+(\d{1,10})/g;
  let work = 2 * content.length; // offsets may all point at one large value
  for (const [, number, offset] of content.slice(0, first).matchAll(places)) {
    const start = first + Number(offset);
    try {
      const { value, end } = readPdfValue(content, start);
      found.push([Number(number), value]);
      work -= end - start;
    } catch (error) {
      if (!(error instanceof PdfSyntaxError)) throw error;
      work -= error.at - start;
    }
    if (work < 0) break;
  }
  return found;
}

/** The value itself, or the object that it refers to. */
export function resolved(
  objects: ReadonlyMap<number, PdfObject>,
  value: PdfValue | undefined,
): PdfObject | undefined {
  if (value instanceof PdfReference) return objects.get(value.object);
  return value === undefined ? undefined : { value };
}
