import { inspect } from "node:util";
import { ProbelabError } from "../../base/error.js";
import type { MimeBundle } from "../../base/mime-bundle.js";
import { cleanText, counted, isPromise, shownValue } from "../../base/text.js";
import { isResult } from "../../result/result.js";
import { pngSize } from "../png.js";
import { titleText } from "../svg.js";
import { escapeXml } from "../../base/xml.js";
import { saveAs } from "../save.js";
import { htmlText } from "../table-outputs.js";
import { THEMES } from "../theme.js";
import { chartFigure, tableFigure, type Drawable, type Tabular } from "./figures.js";
import { pageDocument } from "./page-document.js";

interface PageChart extends Drawable {
  png(options?: { scale?: number }): Promise<Buffer>;
}

type Content = PageChart | Tabular;

const SUCH = "chart.page([chart.line(result)])";

const STYLE = `
main { max-width: 84rem; padding-top: 1rem; }
main > figure:first-child { margin-top: 0; }
main > .probelab-table { padding: 0 12px; }
main > .probelab-table caption { color: var(--ink); font-weight: 600; font-size: 1rem; }
`;

/** Charts, which share one runtime, and tables on one page: a value that `save` writes. */
export class Page {
  readonly contents: readonly Content[];
  readonly title: string | undefined;

  constructor(contents: readonly Content[], title: string | undefined) {
    this.contents = Object.freeze([...contents]);
    this.title = title;
  }

  /**
   * The page as an HTML document: interactive, self-contained, offline.
   *
   * @example
   * const document = await chart.page([chart.area(counts)]).html();
   */
  html(): Promise<string> {
    return chartPage(this.contents, this.title === undefined ? {} : { title: this.title });
  }

  /**
   * Writes the page, whole or not at all; folders are made.
   *
   * @param target a path, or a file: URL.
   * @returns the absolute path.
   * @throws ProbelabError for another extension than `.html`, or where the path can't be written.
   * @example
   * await chart.page([chart.area(counts)]).save("out/incident.html");
   */
  save(target: string | URL): Promise<string> {
    return saveAs("page", target, { ".html": () => this.html() });
  }

  /** One line: the page's content, and how to save it. */
  toString(): string {
    const charts = this.contents.filter(isChart).length;
    const tables = this.contents.length - charts;
    const parts = [charts && counted(charts, "chart"), tables && counted(tables, "table")];
    const name = this.title === undefined ? "" : ` ${JSON.stringify(cleanText(this.title, 300))}`;
    return `Page${name} of ${parts.filter(Boolean).join(" and ")}: page.save("page.html") writes it, interactive.`;
  }

  [inspect.custom](): string {
    return this.toString();
  }

  /** The outputs of a notebook: the charts' pictures and its tables below each other, and how to save the page. */
  async [Symbol.for("Jupyter.display")](): Promise<MimeBundle> {
    const shown: string[] = [];
    for (const each of this.contents) {
      if (!isChart(each)) {
        shown.push(each.html);
        continue;
      }
      const png = await each.png({ scale: 2 });
      const { width, height } = pngSize(png, 2);
      shown.push(
        `<p><img alt="${escapeXml(titleOf(each))}" width="${width}" height="${height}" src="data:image/png;base64,${png.toString("base64")}"/></p>\n`,
      );
    }
    const text = this.toString();
    const html = `${shown.join("")}<p><small>${htmlText(text)}</small></p>\n`;
    return { data: { "text/html": html, "text/plain": text }, metadata: {} };
  }
}

/** The charts and tables of a page, of one or a list. @throws ProbelabError for none, or anything else. */
export function pageContents(given: unknown): readonly Content[] {
  const contents: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (contents.length === 0 || given === undefined || given === null) {
    throw new ProbelabError(`Can't make a page of no charts: pass at least one, ${SUCH}.`);
  }
  return contents.map((value) => {
    if (isChart(value) || isTable(value)) return value;
    if (isPromise(value)) {
      throw new ProbelabError(
        "Can't put a Promise on a page: write await before the question, chart.page([chart.line(await lab.measurements.counts({ range }))]).",
      );
    }
    const what = isResult(value) ? "a Result" : shownValue(value);
    throw new ProbelabError(`Can't put ${what} on a page: pass charts and tables, ${SUCH}.`);
  });
}

/** By its members: it may be of another copy of this library. */
function isChart(value: unknown): value is PageChart {
  const { spec, svg, png } = (value ?? {}) as Partial<PageChart>;
  return typeof spec === "object" && typeof svg === "function" && typeof png === "function";
}

function isTable(value: unknown): value is Tabular {
  const { html, model } = (value ?? {}) as Partial<Tabular>;
  return typeof html === "string" && typeof model === "object";
}

/**
 * Charts and tables as one HTML page: interactive, self-contained, offline; dark where all its charts
 * are, without charts as the reader's system is. `title` is its heading; default none.
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
function titleOf(content: Drawable | Tabular): string {
  return "spec" in content ? titleText(content.spec.title) : content.model.caption;
}
