import { inspect } from "node:util";
import { untilDone } from "../../base/pending-work.js";
import { writeWhole } from "../../files/write-whole.js";
import { displayBundle, type MimeBundle } from "../display.js";
import { cleanText } from "../label.js";
import { escapeXml } from "../render/xml.js";
import { savePath } from "../save-path.js";
import { htmlText } from "../table-html.js";
import { chartPage, titleOf } from "./chart-page.js";
import type { Drawable } from "./chart-figure.js";
import type { Tabular } from "./table-figure.js";

/** A chart as far as a page goes. */
interface PageChart extends Drawable {
  png(options?: { scale?: number }): Promise<Buffer>;
}

/** Charts, which share one runtime, and tables on one page: a value that `save` writes. */
export class Page {
  readonly contents: readonly (PageChart | Tabular)[];
  readonly title: string | undefined;

  constructor(contents: readonly (PageChart | Tabular)[], title: string | undefined) {
    this.contents = Object.freeze([...contents]);
    this.title = title;
  }

  /** The page as an HTML document: interactive, self-contained, offline. */
  html(): Promise<string> {
    return chartPage(this.contents, this.title === undefined ? {} : { title: this.title });
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
    const charts = this.contents.filter((each) => "spec" in each).length;
    const parts = [counted(charts, "chart"), counted(this.contents.length - charts, "table")];
    const name = this.title === undefined ? "Page" : `Page ${JSON.stringify(this.#heading())}`;
    return `${name} of ${parts.filter((part) => part !== "").join(" and ")}: page.save("page.html") writes it, interactive.`;
  }

  [inspect.custom](): string {
    return this.toString();
  }

  /** What a notebook shows: its charts' pictures and its tables below each other, and how to save the page. */
  async [Symbol.for("Jupyter.display")](): Promise<MimeBundle> {
    const shown: string[] = [];
    for (const each of this.contents) {
      if (!("spec" in each)) {
        shown.push(each.html);
        continue;
      }
      const { data, metadata } = await displayBundle(each);
      const { width, height } = metadata["image/png"] as { width: number; height: number };
      shown.push(
        `<p><img alt="${escapeXml(titleOf(each))}" width="${width}" height="${height}" src="data:image/png;base64,${String(data["image/png"])}"/></p>\n`,
      );
    }
    const text = this.toString();
    return {
      data: {
        "text/html": `${shown.join("")}<p><small>${htmlText(text)}</small></p>\n`,
        "text/plain": text,
      },
      metadata: {},
    };
  }

  #heading(): string {
    return cleanText(this.title ?? "", 300);
  }
}

function counted(count: number, what: string): string {
  return count === 0 ? "" : `${count} ${what}${count === 1 ? "" : "s"}`;
}
