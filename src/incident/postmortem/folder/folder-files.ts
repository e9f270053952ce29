import { Chart } from "../../../chart/chart-value.js";
import { csv } from "../../../render/save.js";
import type { FontFace } from "../../../fonts/font-face.js";
import { withUsedFonts } from "../../../fonts/other-fonts.js";
import type { Value } from "../../../result/result.js";
import { documentBlocks } from "../document/document.js";
import { documentHtml } from "../document/document-html.js";
import { documentMarkdown } from "../document/document-markdown.js";
import { documentPdf } from "../document/document-pdf.js";
import { drawFigure, Picture, type Content, type Figure } from "../figure.js";
import { queryFile } from "./query-file.js";
import type { FigureRecord, PostmortemRecord } from "../record.js";
import { fontVersions } from "../versions.js";
import { readResultFile, resultFile } from "./result-file.js";

/** The file that holds the record. */
export const RECORD = "postmortem.json";

/** Files that were made of a record and data. */
export interface MadeFiles {
  readonly files: Map<string, string | Uint8Array>;
  /** Paths of pictures and pages that show characters which the shipped font has not. */
  readonly otherFonts: ReadonlySet<string>;
  /** The machine's fonts that drew those, as versions. */
  readonly fonts: Readonly<Record<string, string>>;
}

/** The record's file. */
export function recordFile(record: PostmortemRecord): string {
  return `${JSON.stringify(record, null, 1)}\n`;
}

/** The file of a figure's rows, or of a picture. */
export function dataPath({ kind, name }: Pick<FigureRecord, "kind" | "name">): string {
  return kind === "picture" ? `charts/${name}.png` : `data/${name}.parquet`;
}

/** What that file holds. */
export function dataOf(content: Content): Buffer {
  return content instanceof Picture ? content.png : resultFile(content.result);
}

/** The figure again, of its record and that file. @throws ProbelabError where the file isn't one. */
export async function readFigure(record: FigureRecord, bytes: Uint8Array): Promise<Figure> {
  const { name, caption, kind } = record;
  return kind === "picture"
    ? { name, caption, content: new Picture(Buffer.from(bytes)) }
    : drawFigure(record, await readResultFile(bytes));
}

/**
 * All files of a postmortem but its record and manifest, made of its record and the rows of its
 * figures and of nothing else but fonts, where the shipped one has not every character: saving and
 * verifying both call this, so what is drawn is what the data gives.
 *
 * @param data what `dataOf` gives for each figure of the record, by the figure's name.
 */
export async function folderFiles(
  record: PostmortemRecord,
  data: ReadonlyMap<string, Uint8Array>,
): Promise<MadeFiles> {
  const files = new Map<string, string | Uint8Array>();
  const otherFonts = new Set<string>();
  const faces = new Set<FontFace>();
  const draw = async (path: string, make: () => Promise<Uint8Array>): Promise<void> => {
    const { made, used } = await withUsedFonts(make);
    files.set(path, made);
    if (used.others) otherFonts.add(path);
    for (const face of used.faces) faces.add(face);
  };
  const figures: Figure[] = [];
  for (const each of record.figures) {
    const bytes = data.get(each.name) ?? new Uint8Array();
    const figure = await readFigure(each, bytes);
    const { content } = figure;
    figures.push(figure);
    files.set(dataPath(each), bytes);
    if (content instanceof Picture) continue;
    const { result } = content;
    const names = result.columnNames;
    const columns = names.map((name) => result.column(name));
    const rows = Array.from({ length: result.numRows }, (_, row): Value[] =>
      columns.map((values) => values[row]),
    );
    files.set(`data/${each.name}.csv`, csv(names, rows));
    files.set(`queries/${each.name}.sql`, queryFile(each.caption, result.origin));
    if (content instanceof Chart) {
      files.set(`charts/${each.name}.svg`, await content.svg());
      await draw(`charts/${each.name}.png`, () => content.png());
    }
  }
  const blocks = documentBlocks(record, figures);
  files.set("postmortem.md", documentMarkdown(blocks));
  files.set("postmortem.html", await documentHtml(record.title, blocks));
  await draw("postmortem.pdf", () => documentPdf(record, blocks));
  // Git would change line ends on its way through Windows, and with them the hashes.
  files.set(".gitattributes", "* -text\n");
  return { files, otherFonts, fonts: fontVersions(faces) };
}
