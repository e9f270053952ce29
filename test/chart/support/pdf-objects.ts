import { inflateSync } from "node:zlib";

/** An object of a PDF file. */
export interface PdfObject {
  readonly id: number;
  /** Its text: a dictionary as a rule. */
  readonly text: string;
  /** The content of its stream, inflated. */
  readonly stream?: Buffer;
}

/**
 * The objects of a PDF, each found by its place in the cross-reference table.
 *
 * @throws where the file is not whole or a place is wrong.
 */
export function pdfObjects(pdf: Buffer): PdfObject[] {
  const text = pdf.toString("latin1");
  if (!text.startsWith("%PDF-1.7") || !/%%EOF\s*$/.test(text)) throw new TypeError("Not a PDF");
  const table = Number(/startxref\n(\d+)\n%%EOF/.exec(text)?.[1]);
  const rows = text.slice(table).match(/\d{10} \d{5} [nf]/g) ?? [];
  return rows.slice(1).map((row, index) => {
    const start = Number(row.slice(0, 10));
    const head = `${index + 1} 0 obj\n`;
    if (!text.startsWith(head, start)) throw new TypeError(`Object ${index + 1} is elsewhere`);
    const begin = start + head.length;
    const end = text.indexOf("\nendobj", begin);
    const stream = text.indexOf("\nstream\n", begin);
    if (stream < 0 || stream > end) return { id: index + 1, text: text.slice(begin, end) };
    const dictionary = text.slice(begin, stream);
    const length = Number(/\/Length (\d+)/.exec(dictionary)?.[1]);
    const bytes = pdf.subarray(stream + 8, stream + 8 + length);
    return {
      id: index + 1,
      text: dictionary,
      stream: dictionary.includes("/FlateDecode") ? inflateSync(bytes) : bytes,
    };
  });
}

/** A string of a PDF, in UTF-16 or ASCII, as it stands between parentheses. */
export function pdfString(raw: string): string {
  const bytes = Buffer.from(
    raw.replace(/\\([nrtbf()\\])/g, (_, escaped: string) =>
      "nrtbf".includes(escaped) ? ("\n\r\t\b\f"["nrtbf".indexOf(escaped)] ?? "") : escaped,
    ),
    "latin1",
  );
  if (bytes[0] !== 0xfe || bytes[1] !== 0xff) return bytes.toString("latin1");
  return Buffer.from(bytes.subarray(2)).swap16().toString("utf16le");
}
