import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Word {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}
/** A page of a PDF, in points. */
export interface Page {
  readonly width: number;
  readonly height: number;
  readonly words: readonly Word[];
}

/** The words of each page and where they stand, as another reader of PDF finds them. */
export function pagesOf(pdf: Buffer): Page[] {
  const html = poppler("pdftotext", pdf, ["-bbox"]);
  return html
    .split("<page ")
    .slice(1)
    .map((page) => {
      const number = (name: string, of: string) =>
        Number(new RegExp(`${name}="([\\d.-]+)"`).exec(of)?.[1]);
      const words = [...page.matchAll(/<word ([^>]*)>(.*?)<\/word>/g)].map(
        ([, at = "", text = ""]) => ({
          text,
          left: number("xMin", at),
          right: number("xMax", at),
          top: number("yMin", at),
          bottom: number("yMax", at),
        }),
      );
      return { width: number("width", page), height: number("height", page), words };
    });
}

/** What a command of poppler says of a PDF. */
export function poppler(command: string, pdf: Buffer, options: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "probelab-pdf-"));
  try {
    const [file, out] = [join(folder, "it.pdf"), join(folder, "out")];
    writeFileSync(file, pdf);
    if (command === "pdfinfo") return execFileSync(command, [...options, file]).toString();
    execFileSync(command, [...options, file, out]);
    return readFileSync(out, "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The words of a page that lie over each other, as `one over two`. */
export function overlaps(words: readonly Word[]): string[] {
  return words.flatMap((one, at) =>
    words
      .slice(at + 1)
      .filter(
        (two) =>
          Math.min(one.right, two.right) - Math.max(one.left, two.left) > 1.5 &&
          Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top) >
            0.5 * Math.min(one.bottom - one.top, two.bottom - two.top),
      )
      .map((two) => `${one.text} over ${two.text}`),
  );
}

/** What is wrong with pages: text over text, text in the margins, no number at the foot. */
export function faultsOf(pages: readonly Page[]): string[] {
  return pages.flatMap(({ width, height, words }, index) => {
    const page = `page ${index + 1}`;
    const outside = words.filter(
      ({ left, right, bottom, top }) =>
        left < 49 || right > width - 49 || top < 45 || bottom > height - 20,
    );
    const over = overlaps(words).map((text) => `${page}: ${text}`);
    const foot = words.filter(({ top }) => top > height - 50).at(-1)?.text;
    return [
      ...outside.map(({ text }) => `${page}: ${text} in the margin`),
      ...over,
      ...(foot === String(index + 1) ? [] : [`${page}: foot ${foot}`]),
      ...(words.filter(({ top }) => top < height - 50).length === 0 ? [`${page}: empty`] : []),
    ];
  });
}

/** The words of all pages, without their feet. */
export const textOf = (pages: readonly Page[]): string[] =>
  pages.flatMap(({ words, height }) =>
    words.filter(({ top }) => top < height - 50).map(({ text }) => text),
  );
