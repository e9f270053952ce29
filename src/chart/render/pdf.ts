import { join, resolve } from "node:path";
import type * as Typst from "@myriaddreamin/typst-ts-node-compiler";
import { ProbelabError } from "../../base/error.js";
import { escapeXml, legalXml, unescapeXml } from "../../base/xml.js";
import { cleanText } from "../label.js";
import { fontFiles, isShipped } from "./font.js";
import type { FontFace } from "./font-face.js";
import { warnOfMissing } from "./missing-characters.js";
import { otherFonts, shownText } from "./other-fonts.js";
import { layOut, originJson, svgSize, titleText } from "./svg.js";

/** Points for each CSS pixel. */
export const POINTS_PER_PIXEL = 0.75;

/** A document for `typeset`. */
export interface TypstDocument {
  /** Typst's markup. It reads what it says from `data.json`: no text of a user is ever markup. */
  readonly markup: string;
  readonly data: object;
  /** SVG pictures, by file name. */
  readonly pictures: ReadonlyMap<string, string>;
  /** Records that are attached, as JSON, by file name; the markup has to embed each. */
  readonly origins: ReadonlyMap<string, string>;
  /** All that the document shows: what fonts it needs. */
  readonly shown: string;
}

// There is no such folder: a document has no files but those that it is given.
const ROOT = resolve("/probelab-document");
const CACHED_DOCUMENTS = 2;

const CHART = `
#let it = json("data.json")
#set document(title: it.title, date: datetime(..it.date))
#set page(width: it.width * 1pt, height: it.height * 1pt, margin: 0pt)
#set text(lang: "en")
#pdf.embed("origin.json", mime-type: "application/json", relationship: "data", description: it.title)
#image("chart.svg", width: 100%, alt: it.alt)
`;

/**
 * A Vega-Lite spec as a PDF document of one page, as large as the picture: vectors, text that can be
 * selected, the shipped font embedded, with the origin attached as `origin.json`.
 *
 * @param date what the document says about its time.
 */
export async function pdfPicture(spec: Record<string, unknown>, date: Date): Promise<Buffer> {
  const svg = await layOut(spec);
  const { width, height } = svgSize(svg);
  const title = titleText(spec.title) || "Chart";
  return typeset({
    markup: CHART,
    data: {
      title: legalXml(title),
      alt: legalXml(typeof spec.description === "string" ? spec.description : title),
      date: dateParts(date),
      width: width * POINTS_PER_PIXEL,
      height: height * POINTS_PER_PIXEL,
    },
    pictures: new Map([["chart.svg", svg]]),
    origins: new Map([["origin.json", originJson(spec)]]),
    shown: shownText(svg),
  });
}

/**
 * A document as PDF, set by Typst: in the shipped font, other scripts in fonts of this machine, or
 * with a warning where none has them. The same document has the same bytes. No file is read, no
 * address asked.
 */
export async function typeset(document: TypstDocument): Promise<Buffer> {
  const { faces, missing } = otherFonts(document.shown);
  warnOfMissing(missing, "PDF");
  const compiler = await compilerOf(faces);
  const families = faces.map(({ family }) => family).filter((family) => family !== "");
  const data = { ...document.data, fonts: ["Arimo", ...families] };
  try {
    compiler.addSource(join(ROOT, "main.typ"), document.markup);
    const add = (name: string, content: string): void =>
      compiler.mapShadow(join(ROOT, name), Buffer.from(content));
    add("data.json", JSON.stringify(data));
    for (const [name, svg] of document.pictures) add(name, inFonts(svg, faces));
    for (const [name, json] of document.origins) add(name, json);
    const compiled = compiler.compile({ mainFilePath: join(ROOT, "main.typ") });
    if (compiled.result === null) {
      const told = compiled.takeDiagnostics()?.shortDiagnostics ?? [];
      throw new Error(JSON.stringify(told));
    }
    return compiler.pdf(compiled.result);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ProbelabError(
      `Can't make a PDF (${cleanText(message, 300)}): save it in another format, such as .svg or .html.`,
      { cause: error },
    );
  } finally {
    compiler.resetShadow();
    compiler.evictCache(CACHED_DOCUMENTS);
  }
}

/** A time as Typst's `datetime` takes it, in UTC. */
export function dateParts(date: Date): Record<string, number> {
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  };
}

let last: { readonly key: string; readonly compiler: Typst.NodeCompiler } | undefined;

/** A compiler with the shipped font and some of this machine; the last one is kept. */
async function compilerOf(faces: readonly FontFace[]): Promise<Typst.NodeCompiler> {
  const fontPaths = [...fontFiles(), ...faces.map(({ path }) => path)];
  const key = fontPaths.join("\n");
  if (last?.key === key) return last.compiler;
  const { NodeCompiler } = await loadTypst();
  last = { key, compiler: NodeCompiler.create({ workspace: ROOT, fontArgs: [{ fontPaths }] }) };
  return last.compiler;
}

async function loadTypst(): Promise<typeof Typst> {
  try {
    return await import("@myriaddreamin/typst-ts-node-compiler");
  } catch (error) {
    throw new ProbelabError(
      `Can't make a PDF: Typst isn't installed for ${process.platform} ${process.arch}. Run npm install anew, or save in another format, such as .svg or .html.`,
      { cause: error },
    );
  }
}

const TEXT = /(<text\b[^>]*>)(.*?)(<\/text>)/gs;

/**
 * An SVG with what the shipped font can't draw in spans of the fonts found for it: Typst would take
 * any font of the machine. The origin, which is attached, is left out.
 */
function inFonts(svg: string, faces: readonly FontFace[]): string {
  const picture = svg.replace(/<metadata>.*?<\/metadata>/s, "");
  if (faces.length === 0) return picture;
  return picture.replace(TEXT, (_, open: string, content: string, close: string) => {
    const spans = content.replace(/<[^<>]*>|[^<>]+/g, (part) =>
      part.startsWith("<") ? part : escapedSpans(unescapeXml(part), faces),
    );
    return `${open}${spans}${close}`;
  });
}

function escapedSpans(text: string, faces: readonly FontFace[]): string {
  const runs: { face: FontFace | undefined; text: string }[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const run = runs.at(-1);
    const joins = /[\s\p{M}\p{Cf}]/u.test(character);
    const face = isShipped(code) ? undefined : faces.find((each) => each.has(code));
    if (run && (run.face === face || joins)) run.text += character;
    else runs.push({ face, text: character });
  }
  return runs
    .map(({ face, text }) =>
      face === undefined
        ? escapeXml(text)
        : `<tspan font-family="'${escapeXml(face.family)}'">${escapeXml(text)}</tspan>`,
    )
    .join("");
}
