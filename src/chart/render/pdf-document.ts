import { readFileSync } from "node:fs";
import { legalXml, escapeXml } from "./xml.js";
import { fontPaths } from "./font-directory.js";

/** The document of pdfkit that pieces are drawn into; its unit is the point, 1/72 inch. */
export type PdfKit = PDFKit.PDFDocument;

/** What a document says about itself. */
export interface PdfOptions {
  readonly title: string;
  /** What the document is about; left out where it is "". */
  readonly subject?: string;
  /** Language of its texts (BCP 47), default "en". */
  readonly lang?: string;
  /** The only time in the file: the same content of the same date has the same bytes. */
  readonly date: Date;
}

/** An open, tagged PDF document. */
export interface PdfDocument {
  readonly kit: PdfKit;
  /** Adds an element of the logical structure, such as `kit.struct("P", …)`, to the document. */
  add(element: PDFKit.PDFStructureElement): void;
  /** Attaches an origin record, or any JSON value, as a file. @param name ends in `origin.json`. */
  attachJson(name: string, value: unknown, description: string): void;
  /** Ends the document. @returns the whole file. */
  bytes(): Promise<Buffer>;
}

/** Names under which the shipped font is known in the document. */
export const PDF_FONT = { regular: "Arimo", bold: "Arimo-Bold" } as const;

let fonts: [Buffer, Buffer] | undefined;

/**
 * Opens a PDF 1.7 document without pages: tagged, with title and language, written in the shipped
 * font, embedded. Nothing in it depends on the clock or on chance.
 *
 * @example
 * const pdf = await openPdf({ title: "Counts", date: origin.askedAt });
 * pdf.kit.addPage({ size: [750, 300], margin: 0 });
 * await drawFigure(pdf, svg, 0, 0, 750);
 * await writeFile("counts.pdf", await pdf.bytes());
 */
export async function openPdf(options: PdfOptions): Promise<PdfDocument> {
  const { default: Kit } = await import("pdfkit");
  const { title, subject = "", lang = "en", date } = options;
  const [regular, bold] = (fonts ??= fontPaths().map((path) => readFileSync(path)) as [
    Buffer,
    Buffer,
  ]);
  const kit = new Kit({
    pdfVersion: "1.7",
    tagged: true,
    displayTitle: true,
    lang,
    autoFirstPage: false,
    // Helvetica would be pdfkit's own, which is not embedded.
    font: regular as unknown as string,
    info: {
      Title: legalXml(title),
      ...(subject !== "" && { Subject: legalXml(subject) }),
      Creator: "probelab",
      Producer: "probelab",
      CreationDate: date,
      ModDate: date,
    },
  });
  kit.registerFont(PDF_FONT.regular, regular);
  kit.registerFont(PDF_FONT.bold, bold);
  escapeMetadata(kit);
  const root = kit.struct("Document");
  kit.addStructure(root);
  const chunks: Buffer[] = [];
  const whole = new Promise<Buffer>((resolve, reject) => {
    kit.on("data", (chunk: Buffer) => chunks.push(chunk));
    kit.on("end", () => resolve(Buffer.concat(chunks)));
    kit.on("error", reject);
  });
  return {
    kit,
    add: (element) => void root.add(element),
    attachJson: (name, value, description) => {
      const bytes = Buffer.from(JSON.stringify(value ?? null), "utf8");
      const file = {
        name,
        type: "application/json",
        description: legalXml(description),
        creationDate: date,
        modifiedDate: date,
        relationship: "Data",
      };
      kit.file(bytes, file);
    },
    bytes: () => {
      root.end();
      kit.end();
      return whole;
    },
  };
}

/** pdfkit writes title and subject into the XML metadata as they are: data would become markup. */
function escapeMetadata(kit: PdfKit): void {
  const write = kit.endMetadata.bind(kit);
  kit.endMetadata = () => {
    for (const name of ["Title", "Subject"] as const) {
      const text = kit.info[name];
      if (text !== undefined) kit.info[name] = escapeXml(text);
    }
    write();
  };
}
