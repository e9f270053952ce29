import type { PdfDocument } from "../../../chart/render/pdf-document.js";
import { drawArtifact, SOFT, textLength } from "./pdf-flow.js";
import { breakLines } from "./pdf-lines.js";

/** A4 in points. */
const SHORT = 595.28;
const LONG = 841.89;
const MARGIN = 50;
const FOOT = { size: 7.5, colour: SOFT } as const;
const LONGEST_FOOT = 120;

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
    this.#foot =
      foot.length > LONGEST_FOOT ? `${foot.slice(0, LONGEST_FOOT - 1).trimEnd()}…` : foot;
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

  /** What is left of this page. */
  get room(): number {
    return MARGIN + this.height - this.y;
  }

  /** True where nothing stands on this page yet. */
  get isFresh(): boolean {
    return this.y === MARGIN;
  }

  /** Begins a page where `height` doesn't fit on this one any more. @returns whether it did. */
  begin(height: number): boolean {
    // What fits exactly is a hair too high in binary fractions.
    if (height <= this.room + 0.01 || this.isFresh) return false;
    this.next();
    return true;
  }

  /** Begins a page, in another direction where asked. */
  next(options: { landscape?: boolean } = {}): void {
    this.#landscape = options.landscape ?? this.#landscape;
    const size = this.#landscape ? [LONG, SHORT] : [SHORT, LONG];
    // What is set breaks the pages itself: pdfkit must not at a margin of its own.
    this.#pdf.kit.addPage({ size: size as [number, number], margin: 0 });
    this.y = MARGIN;
    this.#number++;
    this.#writeFoot();
  }

  #writeFoot(): void {
    const pdf = this.#pdf;
    const place = { x: MARGIN, y: MARGIN + this.height + 16, width: this.width };
    let foot = this.#foot;
    while (textLength(pdf, foot, FOOT) > this.width - 50) foot = `${foot.slice(0, -2)}…`;
    drawArtifact(pdf, breakLines(pdf, [{ text: foot }], Infinity, FOOT), place, FOOT);
    const number = breakLines(pdf, [{ text: String(this.#number) }], Infinity, FOOT);
    drawArtifact(pdf, number, { ...place, align: "right" }, FOOT);
  }
}
