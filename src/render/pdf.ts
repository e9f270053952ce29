import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { buffer, text as textOf } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { ProbelabError } from "../base/error.js";
import { cleanText } from "../base/text.js";
import { fontFiles, fontFolders, fontOptions, needsOtherFont } from "../fonts/shipped-font.js";
import { resvg } from "./png.js";
import { shownText } from "./svg.js";

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
}

const require = createRequire(import.meta.url);
const TYPST = "@myriaddreamin/typst-ts-node-compiler";

/** Typst's reader of SVG fails at scripts from right to left in another font, and never ends at joined emoji. */
const UNREADABLE = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u200d\p{Extended_Pictographic}]/u;

/** Milliseconds after which a document that isn't made is given up. */
const LONGEST = 120_000;

// A process of its own: a fault in native code ends it, and no kernel. There is no such folder as it
// works in: a document has no files but those that it is given.
const PROGRAM = `
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
const { typst, fontPaths, files } = JSON.parse(await text(process.stdin));
const { NodeCompiler } = await import(typst);
const workspace = resolve("/probelab-document");
const compiler = NodeCompiler.create({ workspace, fontArgs: [{ fontPaths }] });
for (const [name, content] of files) compiler.mapShadow(resolve(workspace, name), Buffer.from(content));
const compiled = compiler.compile({ mainFilePath: resolve(workspace, "main.typ") });
if (compiled.result === null) throw new Error(JSON.stringify(compiled.takeDiagnostics()?.shortDiagnostics));
process.stdout.write(compiler.pdf(compiled.result));
`;

/**
 * A document as PDF, set by Typst: in the shipped font, other scripts in fonts of this machine. The
 * same document has the same bytes on a machine. No file is read, no address asked.
 */
export async function typeset(document: TypstDocument): Promise<Buffer> {
  const folders = fontFolders();
  const data = { ...document.data, fonts: ["Arimo"] };
  const fontPaths = [...fontFiles(), ...(folders ?? [])];
  const pictures: [string, string][] = [];
  for (const [name, svg] of document.pictures) pictures.push([name, await readable(svg)]);
  const files = [
    ["main.typ", document.markup],
    ["data.json", JSON.stringify(data)],
    ...pictures,
    ...document.origins,
  ];
  try {
    const typst = pathToFileURL(require.resolve(TYPST)).href;
    return await run(JSON.stringify({ typst, fontPaths, files }));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ProbelabError(
      `Can't make a PDF (${cleanText(message, 300)}): save it in another format, such as .svg or .html.`,
      { cause: error },
    );
  }
}

/** Runs the program on a job. @throws with its error output. */
async function run(job: string): Promise<Buffer> {
  // Ctrl-C and Jupyter's interrupt go to a whole process group: what is being saved is finished.
  const child = spawn(process.execPath, ["--input-type=module", "--eval", PROGRAM], {
    detached: true,
    windowsHide: true,
    timeout: LONGEST,
    killSignal: "SIGKILL",
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  child.stdin.on("error", () => undefined); // it failed before it read all, as its exit code says
  child.stdin.end(job);
  const [code, pdf, said] = await Promise.all([ended, buffer(child.stdout), textOf(child.stderr)]);
  if (code === 0) return pdf;
  if (child.killed) throw new Error(`it took longer than ${LONGEST / 60_000} minutes`);
  throw new Error(/^(?:Error: .*|.*panicked at[^]*?\n.*)$/m.exec(said)?.[0] ?? said);
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

/** The SVG without its origin, which is attached; with its texts as outlines where Typst can't read them. */
async function readable(svg: string): Promise<string> {
  const picture = svg.replace(/<metadata>.*?<\/metadata>/s, "");
  const shown = shownText(picture);
  if (!UNREADABLE.test(shown) || !needsOtherFont(shown)) return picture;
  const { Resvg } = await resvg();
  return new Resvg(svg, { font: fontOptions(shown), logLevel: "off" }).toString();
}
