import { extname } from "node:path";
import { ProbelabError } from "../../error.js";
import { writeWhole } from "../../files/write-whole.js";
import { chartPage } from "./chart-page.js";
import type { Drawable } from "./chart-figure.js";

/** Several charts on one page, which share one runtime: a value that `save` writes. */
export class Page {
  readonly charts: readonly Drawable[];
  readonly title: string | undefined;

  constructor(charts: readonly Drawable[], title: string | undefined) {
    if (charts.length === 0) {
      throw new ProbelabError(
        "Can't make a page of no charts: pass at least one, [chart.line(result)].",
      );
    }
    this.charts = charts;
    this.title = title;
  }

  /** The page as an HTML document: interactive, self-contained, offline. */
  html(): Promise<string> {
    return chartPage(this.charts, this.title === undefined ? {} : { title: this.title });
  }

  /**
   * Writes the page, whole or not at all; folders are made.
   *
   * @returns the absolute path.
   * @throws ProbelabError for another extension than `.html`, or where the path can't be written.
   */
  async save(path: string): Promise<string> {
    if (extname(path).toLowerCase() !== ".html") {
      throw new ProbelabError(
        `Can't save a page as ${JSON.stringify(path)}: end the path with .html.`,
      );
    }
    return writeWhole(path, await this.html());
  }
}
