import { ProbelabError } from "../../base/error.js";
import { damagedFile, foundOrigin, type FoundOrigin } from "./found-origin.js";
import { isDictionary, pdfObjects, resolved, unpacked, type PdfObject } from "./pdf-objects.js";
import { PdfText, type PdfDictionary, type PdfValue } from "./pdf-syntax.js";

const MOST_BYTES = 16 * 1024 * 1024;

/**
 * The origins in a PDF: its embedded files `origin.json` and `….origin.json`, in the order of
 * their names.
 *
 * @param text the file's bytes, one a character.
 * @throws ProbelabError for an encrypted PDF, or an attachment that can't be unpacked.
 */
export function pdfOrigins(text: string): FoundOrigin[] {
  const objects = pdfObjects(text);
  const files = new Map<PdfObject, string>();
  for (const { value } of objects.values()) {
    for (const specification of fileSpecifications(value, objects)) {
      const name = fileName(specification, objects);
      const file = embeddedFile(specification, objects);
      if (file !== undefined && /(^|\.)origin\.json$/.test(name)) files.set(file, name);
    }
  }
  if (files.size === 0 && objects.size === 0) {
    throw damagedFile("a PDF", "no object can be found in it");
  }
  if (/\/Encrypt[\0\t\n\f\r ]/.test(text) && files.size === 0) throw encrypted();
  const order = new Intl.Collator("en", { numeric: true });
  return [...files]
    .sort(([, a], [, b]) => order.compare(a, b))
    .flatMap(([file, name]) => {
      const json = unpacked(file, MOST_BYTES);
      if (json === undefined) {
        if (/\/Encrypt[\0\t\n\f\r ]/.test(text)) throw encrypted();
        throw damagedFile("a PDF", `its attachment ${JSON.stringify(name)} can't be unpacked`);
      }
      const title = name.replace(/\.?origin\.json$/, "") || documentTitle(text, objects);
      return foundOrigin(Buffer.from(json, "latin1").toString("utf8"), title) ?? [];
    });
}

/** The title in the document's information, where there is one. */
function documentTitle(text: string, objects: ReadonlyMap<number, PdfObject>): string {
  const references = [
    ...text.matchAll(/\/Info[\0\t\n\f\r ]+(\d{1,10})[\0\t\n\f\r ]+\d{1,5}[\0\t\n\f\r ]+R/g),
  ];
  const information = objects.get(Number(references.at(-1)?.[1]))?.value;
  if (!isDictionary(information)) return "";
  const title = resolved(objects, information.get("/Title"))?.value;
  return title instanceof PdfText ? textOf(title) : "";
}

function encrypted(): ProbelabError {
  return new ProbelabError(
    "this PDF is encrypted: take the one that probelab exported, or remove the encryption.",
  );
}

/** The dictionaries of embedded files in a value, however deep. */
function fileSpecifications(
  value: PdfValue,
  objects: ReadonlyMap<number, PdfObject>,
): PdfDictionary[] {
  if (Array.isArray(value)) {
    return (value as readonly PdfValue[]).flatMap((inner) => fileSpecifications(inner, objects));
  }
  if (!isDictionary(value)) return [];
  if (isDictionary(resolved(objects, value.get("/EF"))?.value)) return [value];
  return [...value.values()].flatMap((inner) => fileSpecifications(inner, objects));
}

function fileName(specification: PdfDictionary, objects: ReadonlyMap<number, PdfObject>): string {
  for (const key of ["/UF", "/F"]) {
    const value = resolved(objects, specification.get(key))?.value;
    if (value instanceof PdfText) return textOf(value);
  }
  return "";
}

function embeddedFile(
  specification: PdfDictionary,
  objects: ReadonlyMap<number, PdfObject>,
): PdfObject | undefined {
  const files = resolved(objects, specification.get("/EF"))?.value;
  if (!isDictionary(files)) return undefined;
  const file = resolved(objects, files.get("/UF") ?? files.get("/F"));
  return file?.stream === undefined ? undefined : file;
}

/** A text string: UTF-16 or UTF-8 by its mark, else one byte a character. */
function textOf({ bytes }: PdfText): string {
  const raw = Buffer.from(bytes, "latin1");
  if (bytes.startsWith("\xfe\xff"))
    return raw
      .subarray(2, raw.length & ~1)
      .swap16()
      .toString("utf16le");
  return bytes.startsWith("\xef\xbb\xbf") ? raw.subarray(3).toString("utf8") : bytes;
}
