import { cleanText } from "../label.js";
import { titleText } from "../render/svg.js";
import { escapeXml } from "../../base/xml.js";
import { THEMES, type ThemeName } from "../theme.js";
import { chartFigure, type Drawable } from "./chart-figure.js";
import { pageDocument } from "./page-document.js";
import { tableFigure, type Tabular } from "./table-figure.js";

const STYLE = `
main { max-width: 84rem; padding-top: 1rem; }
main > figure:first-child { margin-top: 0; }
main > .probelab-table { padding: 0 12px; }
main > .probelab-table caption { color: var(--ink); font-weight: 600; font-size: 1rem; }
`;

/**
 * Charts and tables as one HTML page: interactive, self-contained, offline. The page is dark where all
 * its charts are; without charts it is as the reader's system is, and holds no script.
 *
 * @param options `title`: a heading, and the window's title; default the first chart's or table's,
 *   without a heading.
 * @example
 * await writeFile("week.html", await chartPage([counts, durations], { title: "Week 12" }));
 */
export async function chartPage(
  contents: readonly (Drawable | Tabular)[],
  options: { title?: string } = {},
): Promise<string> {
  const figures: string[] = [];
  const charts: Drawable[] = [];
  for (const each of contents) {
    if ("spec" in each) {
      charts.push(each);
      figures.push(await chartFigure(each, `chart-${charts.length}`));
    } else figures.push(tableFigure(each, `table-${figures.length - charts.length + 1}`));
  }
  const title = options.title ?? contents.map(titleOf)[0] ?? "";
  const heading =
    options.title === undefined ? "" : `<h1>${escapeXml(cleanText(options.title, 300))}</h1>\n`;
  return pageDocument({
    title: title === "" ? "Charts" : title,
    theme: charts.length === 0 ? "auto" : pageTheme(charts),
    live: charts.length > 0,
    style: STYLE,
    body: `${heading}${figures.join("")}`,
  });
}

/** A chart's title, or a table's caption. */
export function titleOf(content: Drawable | Tabular): string {
  return "spec" in content ? titleText(content.spec.title) : content.model.caption;
}

/** Dark where all charts are. */
function pageTheme(charts: readonly Drawable[]): ThemeName {
  const dark = charts.every(({ spec }) => spec.background === THEMES.dark.background);
  return dark && charts.length > 0 ? "dark" : "light";
}
