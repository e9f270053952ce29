import { inspect } from "node:util";
import { untilDone } from "../../files/pending-work.js";
import { writeWhole } from "../../files/write-whole.js";
import { displayBundle, type MimeBundle } from "../display.js";
import { cleanText } from "../label.js";
import { escapeXml } from "../render/xml.js";
import { titleText } from "../render/svg.js";
import { savePath } from "../save-path.js";
import { htmlText } from "../table-html.js";
import { chartPage } from "./chart-page.js";
import type { Drawable } from "./chart-figure.js";

/** A chart as far as a page goes. */
interface PageChart extends Drawable {
  png(options?: { scale?: number }): Promise<Buffer>;
}

/** Several charts on one page, which share one runtime: a value that `save` writes. */
export class Page {
  readonly charts: readonly PageChart[];
  readonly title: string | undefined;

  constructor(charts: readonly PageChart[], title: string | undefined) {
    this.charts = Object.freeze([...charts]);
    this.title = title;
  }

  /** The page as an HTML document: interactive, self-contained, offline. */
  html(): Promise<string> {
    return chartPage(this.charts, this.title === undefined ? {} : { title: this.title });
  }

  /**
   * Writes the page, whole or not at all; folders are made.
   *
   * @param target a path, or a file: URL.
   * @returns the absolute path.
   * @throws ProbelabError for another extension than `.html`, or where the path can't be written.
   */
  async save(target: string | URL): Promise<string> {
    const { path } = savePath(target, "page", [".html"]);
    return untilDone(async () => writeWhole(path, await this.html()));
  }

  /** What the page is, and how to save it, in a line. */
  toString(): string {
    const { length } = this.charts;
    const name = this.title === undefined ? "Page" : `Page ${JSON.stringify(this.#heading())}`;
    return `${name} of ${length} ${length === 1 ? "chart" : "charts"}: page.save("page.html") writes it, interactive.`;
  }

  [inspect.custom](): string {
    return this.toString();
  }

  /** What a notebook shows: its charts' pictures below each other, and how to save the page. */
  async [Symbol.for("Jupyter.display")](): Promise<MimeBundle> {
    const pictures: string[] = [];
    for (const chart of this.charts) {
      const { data, metadata } = await displayBundle(chart);
      const { width, height } = metadata["image/png"] as { width: number; height: number };
      pictures.push(
        `<p><img alt="${escapeXml(titleText(chart.spec.title))}" width="${width}" height="${height}" src="data:image/png;base64,${String(data["image/png"])}"/></p>\n`,
      );
    }
    const text = this.toString();
    return {
      data: {
        "text/html": `${pictures.join("")}<p><small>${htmlText(text)}</small></p>\n`,
        "text/plain": text,
      },
      metadata: {},
    };
  }

  #heading(): string {
    return cleanText(this.title ?? "", 300);
  }
}
