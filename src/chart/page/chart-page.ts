import { cleanText } from "../label.js";
import { titleText } from "../render/svg.js";
import { escapeXml } from "../render/xml.js";
import { THEMES, type ThemeName } from "../theme.js";
import { chartFigure, type Drawable } from "./chart-figure.js";
import { pageDocument } from "./page-document.js";

const STYLE = `
main { max-width: 84rem; padding-top: 1rem; }
main > .probelab-chart:first-child { margin-top: 0; }
`;

/**
 * Charts as one HTML page: interactive, self-contained, offline. The page is dark where all its
 * charts are.
 *
 * @param options `title`: a heading, and the window's title; default the first chart's, without a
 *   heading.
 * @example
 * await writeFile("week.html", await chartPage([counts, durations], { title: "Week 12" }));
 */
export async function chartPage(
  charts: readonly Drawable[],
  options: { title?: string } = {},
): Promise<string> {
  const figures: string[] = [];
  for (const [index, chart] of charts.entries()) {
    figures.push(await chartFigure(chart, `chart-${index + 1}`));
  }
  const title = options.title ?? titleText(charts[0]?.spec.title);
  const heading =
    options.title === undefined ? "" : `<h1>${escapeXml(cleanText(options.title, 300))}</h1>\n`;
  return pageDocument({
    title: title === "" ? "Charts" : title,
    theme: pageTheme(charts),
    style: STYLE,
    body: `${heading}${figures.join("")}`,
  });
}

/** Dark where all charts are. */
export function pageTheme(charts: readonly Drawable[]): ThemeName {
  const dark = charts.every(({ spec }) => spec.background === THEMES.dark.background);
  return dark && charts.length > 0 ? "dark" : "light";
}
