import { drawRecipe } from "../../../chart/chart.js";
import { Chart } from "../../../chart/chart-value.js";
import { cleanText } from "../../../base/text.js";
import { originRecord } from "../../../render/origin/origin-record.js";
import { textWidth } from "../../../fonts/shipped-font.js";
import { dateParts, POINTS_PER_PIXEL, typeset } from "../../../render/pdf.js";
import { layOut, svgSize } from "../../../render/svg.js";
import { mapTexts } from "../../../mask/mask-result.js";
import type { PostmortemRecord } from "../record.js";
import { titleOf, untitled } from "../figure.js";
import type { Block } from "./document.js";
import { TEMPLATE } from "./pdf-template.js";

const FOOT = { size: 7.5, width: 440 };

/**
 * Blocks as a PDF document: A4, charts as vectors, as wide as the paper, in the shipped font.
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
        const { spec } = onPaper(content);
        const svg = await layOut(titleOf(content) === caption ? untitled(spec) : spec);
        pictures.set(`${name}.svg`, svg);
        const { description } = spec;
        const alt = typeof description === "string" ? description : caption;
        const { width, height } = svgSize(svg);
        const [wide, tall] = [width * POINTS_PER_PIXEL, height * POINTS_PER_PIXEL];
        made.push({ ...figure, picture: { width: wide, height: tall, alt } });
      } else {
        const { columns, rows, notes, caption: own } = content.model;
        const below = [...(own === caption ? [] : [`${own.replace(/\.$/, "")}.`]), ...notes];
        made.push({ ...figure, table: { columns, rows }, notes: below.join(" ") });
      }
    }
  }
  const data = {
    title: cleanText(title),
    foot: footOf(cleanText(title, 300)),
    date: dateParts(new Date(savedAt)),
    blocks: mapTexts(shortLinks(made), inLine),
  };
  return typeset({ markup: TEMPLATE, data, pictures, origins });
}

/** The chart as wide as the paper, so that its letters can be read, where nobody said how wide it is. */
function onPaper(chart: Chart): Chart {
  const { recipe, result } = chart;
  if ("spec" in recipe || "explore" in recipe || recipe.options.width !== undefined) return chart;
  if ("change" in recipe) {
    return drawRecipe(result, { ...recipe, options: { ...recipe.options, width: 480 } });
  }
  return drawRecipe(result, { ...recipe, options: { height: 240, ...recipe.options, width: 560 } });
}

/** Typst refuses a document with a longer link. */
const LONGEST_LINK = 8_000;

/** The blocks with links of such length as texts. */
function shortLinks<T>(value: T): T {
  const changed = (inner: unknown): unknown => {
    if (typeof inner !== "object" || inner === null) return inner;
    if (Array.isArray(inner)) return inner.map(changed);
    const { link, ...rest } = inner as { link?: unknown };
    if (typeof link === "string" && link.length >= LONGEST_LINK) return rest;
    return Object.fromEntries(Object.entries(inner).map(([name, each]) => [name, changed(each)]));
  };
  return changed(value) as T;
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
