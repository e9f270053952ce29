import { cleanText } from "../label.js";
import { escapeXml } from "../../base/xml.js";
import type { ThemeName } from "../theme.js";
import { baseStyle } from "./base-style.js";
import { figureStyle } from "./figure-style.js";
import { fontRules } from "./page-font.js";
import { pagePolicy } from "./page-policy.js";
import { printTables } from "./print-tables.js";
import { runtimeScript, runtimeSource } from "./runtime-script.js";

/** What a page consists of. */
export interface PageParts {
  /** Plain text, for the window and the search. */
  readonly title: string;
  /** HTML of the page's `<main>`, made by code that escaped what it was given; figures in it are of `chartFigure`. */
  readonly body: string;
  /** Default light; `auto` is as the reader's system is. */
  readonly theme?: ThemeName | "auto" | undefined;
  /** Whether it holds charts, which need the script and the font; default true. */
  readonly live?: boolean | undefined;
  /** CSS of the page's own. Rules stand here: the policy leaves out `style` attributes. */
  readonly style?: string | undefined;
}

/**
 * A page that is whole in itself: charts live, no address asked, nothing run but its own script.
 *
 * @returns an HTML document; the same parts give the same bytes.
 */
export function pageDocument(parts: PageParts): string {
  return `<!doctype html>
<html lang="en">
<head>
${pageHead(parts)}
</head>
<body>
<main>
${parts.body}
</main>
${parts.live === false ? "" : runtimeScript()}
</body>
</html>
`;
}

/** The content of the page's `<head>`: policy, title, style. */
function pageHead({
  title,
  theme = "light",
  live = true,
  style = "",
}: Omit<PageParts, "body">): string {
  const css = `${baseStyle(theme)}${figureStyle}${style}${printTables}${live ? fontRules() : ""}`;
  return `<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy(live ? [runtimeSource()] : [], [css])}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(cleanText(title, 300))}</title>
<style>${css}</style>`;
}
