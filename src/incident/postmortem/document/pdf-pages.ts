import type { PdfDocument } from "../../../chart/render/pdf-document.js";
import { SOFT, textLength, writeSpans } from "./pdf-flow.js";

/** A4 in points. */
const SHORT = 595.28;
const LONG = 841.89;
const MARGIN = 50;

/** The pages of a document: where the next thing stands, and when a new page begins. */
export class PdfPages {
  readonly #pdf: PdfDocument;
  readonly #foot: string;
  #landscape = false;
  #number = 0;
  /** Where the next thing stands, in points from the top. */
  y = 0;

  /** @param foot what stands at the foot of every page, beside its number. */
  constructor(pdf: PdfDocument, foot: string) {
    this.#pdf = pdf;
    this.#foot = foot;
    this.next();
  }

  get left(): number {
    return MARGIN;
  }

  get width(): number {
    return (this.#landscape ? LONG : SHORT) - 2 * MARGIN;
  }

  /** The height of a page without its margins. */
  get height(): number {
    return (this.#landscape ? SHORT : LONG) - 2 * MARGIN;
  }

  /** Begins a page where `height` doesn't fit on this one any more. @returns whether it did. */
  begin(height: number): boolean {
    if (this.y + height <= MARGIN + this.height || this.y === MARGIN) return false;
    this.next();
    return true;
  }

  /** Begins a page, in another direction where asked. */
  next(options: { landscape?: boolean } = {}): void {
    this.#landscape = options.landscape ?? this.#landscape;
    const size = this.#landscape ? [LONG, SHORT] : [SHORT, LONG];
    // What is set breaks the pages itself; pdfkit would at its own bottom margin.
    this.#pdf.kit.addPage({ size: size as [number, number], margins: BORDERS });
    this.y = MARGIN;
    this.#number++;
    this.#writeFoot();
  }

  #writeFoot(): void {
    const { kit } = this.#pdf;
    const style = { size: 7.5, colour: SOFT } as const;
    const y = MARGIN + this.height + 16;
    // Below the margin pdfkit would begin a page.
    kit.page.margins.bottom = 0;
    kit.markContent("Artifact", { type: "Pagination" });
    let foot = this.#foot;
    while (textLength(this.#pdf, foot, style) > this.width - 60) foot = `${foot.slice(0, -2)}…`;
    writeSpans(this.#pdf, [{ text: foot }], { x: MARGIN, y, width: this.width - 50 }, style);
    const right = { ...style, align: "right" } as const;
    const place = { x: MARGIN + this.width - 50, y, width: 50 };
    writeSpans(this.#pdf, [{ text: String(this.#number) }], place, right);
    kit.endMarkedContent();
    kit.page.margins.bottom = MARGIN;
  }
}

const BORDERS = { top: MARGIN, bottom: MARGIN, left: MARGIN, right: MARGIN };
