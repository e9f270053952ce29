import { cleanText, mapTexts } from "../../base/text.js";
import { drawRecipe } from "../../chart/chart.js";
import { Chart } from "../../chart/chart-value.js";
import { textWidth } from "../../fonts/shipped-font.js";
import { originRecord } from "../../render/origin.js";
import { dateParts, POINTS_PER_PIXEL, typeset } from "../../render/pdf.js";
import { layOut, svgSize } from "../../render/svg.js";
import type { Block } from "./document.js";
import { TEMPLATE } from "./template.js";

const FOOT = { size: 7.5, width: 440 };

/**
 * Blocks as a PDF document: A4, charts as vectors, in the shipped font. The origin of every figure is
 * attached as `NAME.origin.json`. Same blocks, same bytes.
 */
export async function documentPdf(
  { title, savedAt }: { readonly title: string; readonly savedAt: string },
  blocks: readonly Block[],
): Promise<Buffer> {
  const pictures = new Map<string, string>();
  const origins = new Map<string, string>();
  const made: object[] = [];
  for (const block of blocks) {
    if (block.kind !== "figure") {
      made.push(block);
      continue;
    }
    const { kind, number, figure } = block;
    const { name, caption, content } = figure;
    origins.set(`${name}.origin.json`, JSON.stringify(originRecord(content.origin)));
    if (content instanceof Chart) {
      const { spec } = onPaper(content);
      const svg = await layOut(spec);
      pictures.set(`${name}.svg`, svg);
      const { description } = spec;
      const alt = typeof description === "string" ? description : caption;
      const { width, height } = svgSize(svg);
      const [wide, tall] = [width * POINTS_PER_PIXEL, height * POINTS_PER_PIXEL];
      const picture = { width: wide, height: tall, alt };
      made.push({ kind, number, name, caption: block.caption, picture });
    } else {
      const { columns, rows, notes, caption: own } = content.model;
      const below = [...(own === caption ? [] : [`${own.replace(/\.$/, "")}.`]), ...notes];
      made.push({ kind, number, name, caption, table: { columns, rows }, notes: below.join(" ") });
    }
  }
  const data = {
    title: cleanText(title),
    foot: footOf(cleanText(title, 300)),
    date: dateParts(new Date(savedAt)),
    blocks: mapTexts(made, inLine),
  };
  return typeset({ markup: TEMPLATE, data, pictures, origins });
}

/** The chart as wide as the paper, so that its letters can be read, and as flat as on a screen, where nobody said how wide it is. */
function onPaper(chart: Chart): Chart {
  const { recipe, result } = chart;
  if (!("options" in recipe) || recipe.options.width !== undefined) return chart;
  // Findings are drawn of several views, with their legends between them.
  const size = "change" in recipe ? { width: 480 } : { height: 160, width: 560 };
  return drawRecipe(result, { ...recipe, options: { ...size, ...recipe.options } });
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
