import { inspect } from "node:util";
import { ProbelabError } from "../../base/error.js";
import type { MimeBundle } from "../../base/mime-bundle.js";
import { cleanText, counted, isPromise, shownValue } from "../../base/text.js";
import { isResult } from "../../result/result.js";
import { titleText } from "../svg.js";
import { escapeXml } from "../../base/xml.js";
import { saveAs } from "../save.js";
import { THEMES } from "../theme.js";
import { chartFigure, tableFigure, type Drawable, type Tabular } from "./figures.js";
import { pageDocument } from "./page-document.js";

type Content = Drawable | Tabular;

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

  /** What a notebook shows: how to save the page. */
  [Symbol.for("Jupyter.display")](): MimeBundle {
    return { data: { "text/plain": this.toString() }, metadata: {} };
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
function isChart(value: unknown): value is Drawable {
  const { spec, svg } = (value ?? {}) as Partial<Drawable>;
  return typeof spec === "object" && typeof svg === "function";
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
