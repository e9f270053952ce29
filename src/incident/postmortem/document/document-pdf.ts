import { Chart } from "../../../chart/chart-value.js";
import { cleanText } from "../../../base/text.js";
import { originRecord } from "../../../chart/origin-record.js";
import { textWidth } from "../../../fonts/shipped-font.js";
import { shownText } from "../../../fonts/other-fonts.js";
import { dateParts, POINTS_PER_PIXEL, typeset } from "../../../chart/render/pdf.js";
import { layOut, svgSize } from "../../../chart/render/svg.js";
import { mapTexts } from "../../../mask/mask-result.js";
import type { PostmortemRecord } from "../record.js";
import type { Block } from "./document.js";
import { TEMPLATE } from "./pdf-template.js";

const FOOT = { size: 7.5, width: 440 };

/**
 * Blocks as a PDF document: A4, text upright, figures across, charts as vectors, in the shipped font.
 * The origin of every figure is attached as `NAME.origin.json`. Same blocks, same bytes.
 */
export async function documentPdf(
  { title, savedAt }: Pick<PostmortemRecord, "title" | "savedAt">,
  blocks: readonly Block[],
): Promise<Buffer> {
  const pictures = new Map<string, string>();
  const origins = new Map<string, string>();
  const made: object[] = [];
  for (const block of blocks) {
    if (block.kind !== "figure") made.push(block);
    else {
      const { name, caption, content } = block.figure;
      origins.set(`${name}.origin.json`, JSON.stringify(originRecord(content.origin)));
      const figure = { kind: block.kind, number: block.number, name, caption };
      if (content instanceof Chart) {
        const svg = await layOut(content.spec);
        pictures.set(`${name}.svg`, svg);
        const { description } = content.spec;
        const alt = typeof description === "string" ? description : caption;
        const { width, height } = svgSize(svg);
        const [wide, tall] = [width * POINTS_PER_PIXEL, height * POINTS_PER_PIXEL];
        made.push({ ...figure, picture: { width: wide, height: tall, alt } });
      } else {
        const { columns, rows, notes } = content.model;
        made.push({ ...figure, table: { columns, rows }, notes: notes.join(" ") });
      }
    }
  }
  // The heading of the figures stands before the first of them.
  const first = blocks.findIndex(({ kind }) => kind === "figure");
  const across = first < 0 ? made.length : first - 1;
  const data = {
    title: cleanText(title),
    foot: footOf(cleanText(title, 300)),
    date: dateParts(new Date(savedAt)),
    upright: mapTexts(made.slice(0, across), inLine),
    across: mapTexts(made.slice(across), inLine),
  };
  const shown = [JSON.stringify(data), ...[...pictures.values()].map(shownText)].join("");
  return typeset({ markup: TEMPLATE, data, pictures, origins, shown });
}

/** Clean text; spaces between spans stay. */
function inLine(text: string): string {
  const clean = cleanText(text);
  if (clean === "") return text === "" ? "" : " ";
  return `${/^\s/.test(text) ? " " : ""}${clean}${/\s$/.test(text) ? " " : ""}`;
}

/** The title, cut to the line that it has. */
function footOf(title: string): string {
  let foot = title;
  while (textWidth(foot, FOOT.size) > FOOT.width) foot = `${foot.slice(0, -2)}…`;
  return foot;
}
