import type { Figure } from "../figure.js";
import { webAddress } from "../web-address.js";

/** A run of text: plain, or a link to an address, or to a figure of the same document. */
export type Span =
  | { readonly text: string }
  | { readonly text: string; readonly link: string }
  | { readonly text: string; readonly figure: string };

/** A part of a document, as any format writes it. */
export type Block =
  | { readonly kind: "heading"; readonly level: 1 | 2; readonly text: string }
  | { readonly kind: "paragraph"; readonly spans: readonly Span[] }
  | { readonly kind: "list"; readonly items: readonly (readonly Span[])[] }
  | {
      readonly kind: "checklist";
      readonly items: readonly { readonly done: boolean; readonly spans: readonly Span[] }[];
    }
  | {
      readonly kind: "table";
      readonly heads: readonly string[];
      readonly rows: readonly (readonly (readonly Span[])[])[];
    }
  /** Label and value, the label naming its row. */
  | { readonly kind: "facts"; readonly facts: readonly (readonly [string, readonly Span[]])[] }
  /** A chart or a table with its number: `Figure 1`. */
  | { readonly kind: "figure"; readonly number: number; readonly figure: Figure };

/** Text as spans, its web addresses as links. */
export function spans(text: string): Span[] {
  const parts: Span[] = [];
  let end = 0;
  for (const match of text.matchAll(/https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]}]/gi)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index) });
    const masked = /\[(?:IPv[46]|e-mail)/.test(match[0]);
    const link = masked ? undefined : webAddress(match[0]);
    parts.push({ text: match[0], ...(link !== undefined && { link }) });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end) });
  return parts;
}
