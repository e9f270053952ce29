import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

// What the Latin part of the font covers, as its package says.
const LATIN =
  "U+0000-00FF, U+0131, U+0152-0153, U+02BB-02BC, U+02C6, U+02DA, U+02DC, U+0304, U+0308, U+0329, U+2000-206F, U+20AC, U+2122, U+2191, U+2193, U+2212, U+2215, U+FEFF, U+FFFD";

let rules: string | undefined;

/**
 * The shipped font as rules of a style, Latin in two weights (31 KB): charts are laid out in it, so
 * that a machine with another font, such as a phone, shows the same picture. Other scripts are in
 * the reader's own fonts.
 */
export function fontRules(): string {
  return (rules ??= [400, 700]
    .map((weight) => {
      const file = require.resolve(`@fontsource/arimo/files/arimo-latin-${weight}-normal.woff2`);
      const data = readFileSync(file).toString("base64");
      return `@font-face { font-family: Arimo; font-weight: ${weight}; src: url(data:font/woff2;base64,${data}) format("woff2"); unicode-range: ${LATIN}; }\n`;
    })
    .join(""));
}
