import { cleanText } from "../../base/text.js";
import { escapeXml } from "../../base/xml.js";
import { titleText } from "../svg.js";
import { THEMES } from "../theme.js";
import { chartFigure, tableFigure, type Drawable, type Tabular } from "./figures.js";
import { pageDocument } from "./page-document.js";

type Content = Drawable | Tabular;

const STYLE = `
main { max-width: 84rem; padding-top: 1rem; }
main > figure:first-child { margin-top: 0; }
main > .probelab-table { padding: 0 12px; }
main > .probelab-table caption { color: var(--ink); font-weight: 600; font-size: 1rem; }
`;

/**
 * Charts and tables as one HTML page: interactive, self-contained, offline; dark where all its charts
 * are, without charts as the reader's system is. `title` is its heading; default none.
 */
export async function chartPage(
  contents: readonly Content[],
  options: { title?: string } = {},
): Promise<string> {
  const figures: string[] = [];
  const charts: Drawable[] = [];
  for (const each of contents) {
    if ("spec" in each) {
      charts.push(each);
      figures.push(await chartFigure(each, `chart-${charts.length}`));
    } else {
      figures.push(tableFigure(each, `table-${figures.length - charts.length + 1}`));
    }
  }
  const dark = charts.every(({ spec }) => spec.background === THEMES.dark.background);
  const heading =
    options.title === undefined ? "" : `<h1>${escapeXml(cleanText(options.title, 300))}</h1>\n`;
  return pageDocument({
    title: (options.title ?? contents.map(titleOf)[0]) || "Charts",
    theme: charts.length === 0 ? "auto" : dark ? "dark" : "light",
    style: STYLE,
    body: `${heading}${figures.join("")}`,
  });
}

/** A chart's title, or a table's caption. */
function titleOf(content: Content): string {
  return "spec" in content ? titleText(content.spec.title) : content.model.caption;
}
