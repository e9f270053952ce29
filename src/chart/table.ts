import { redactTexts } from "../base/redact.js";
import { checkOptions } from "../base/check-options.js";
import type { Origin } from "../result/origin.js";
import type { RowsGiven } from "../result/own-rows.js";
import type { Result } from "../result/result.js";
import { resultOf } from "./check-result.js";
import { originRecord } from "../render/origin/origin-record.js";
import { chartPage } from "../render/page/page.js";
import { csv, saveAs, titledParquet, type ChartRows } from "../render/save.js";
import type { ColumnOf } from "./options.js";
import { TABLE_RULES, tableModel, type TableOptions } from "./table-model.js";
import { tableHtml, tableMarkdown } from "../render/table-outputs.js";

/** A table: a value that a notebook shows. */
export class Table {
  /** The Result that it is a table of. */
  readonly result: Result;
  /** Its options. */
  readonly options: TableOptions;
  /** What any format shows. */
  readonly model: ReturnType<typeof tableModel>;

  constructor(result: Result, options: TableOptions) {
    this.result = result;
    this.options = options;
    this.model = redactTexts(tableModel(result, options));
  }

  /** The rows and columns that it shows, for `.csv` and `.parquet`. */
  get data(): ChartRows {
    return this.model.data;
  }

  /** Where the data comes from. */
  get origin(): Origin {
    return this.result.origin;
  }

  /** HTML with a caption, headers with scope, numbers as text. */
  get html(): string {
    return tableHtml(this.model);
  }

  /** Markdown, bars as block characters. */
  get markdown(): string {
    return tableMarkdown(this.model);
  }

  /**
   * Writes the table, in the format of the path's extension: `.html` (a page, offline, with where it comes
   * from), `.md` (bars as block characters), `.csv` or `.parquet` (the rows shown, typed, with the origin in
   * the metadata). The file is written whole or not at all; folders are made.
   *
   * @param target a path, or a file: URL.
   * @returns the absolute path.
   * @throws ProbelabError for another extension, or where the path can't be written.
   * @example
   * await table(summary, { bars: ["runs"] }).save("out/runs-by-version.html");
   */
  save(target: string | URL): Promise<string> {
    return saveAs("table", target, {
      ".html": () => chartPage([this]),
      ".md": () => this.markdown,
      ".csv": () => csv(this.data.names, this.data.rows),
      ".parquet": () => titledParquet(this.data, originRecord(this.origin), this.model.caption),
    });
  }

  toString(): string {
    return this.markdown;
  }

  /** What a notebook shows. */
  [Symbol.for("Jupyter.display")](): Record<string, unknown> {
    return { "text/html": this.html, "text/markdown": this.markdown, "text/plain": this.markdown };
  }
}

/**
 * A Result as a table, with bars in the cells; also an Arquero table, or rows of your own.
 *
 * Numbers are text, aligned by their decimals; each bar begins at zero and is full at its column's
 * largest value, or at that of the columns listed with it.
 *
 * @throws ProbelabError for an unknown column, and bars for what isn't a number of zero or more.
 * @example
 * const summary = await lab.runs.summary({ range, by: "software_version" });
 * table(summary, { bars: ["runs", ["q10", "q50", "q90"]], caption: "Runs by version" });
 * table([{ deploy: new Date("2026-05-04"), version: "3.10" }]);
 */
export function table<R extends RowsGiven>(
  rows: R,
  options: TableOptions<ColumnOf<R>> = {},
): Table {
  const result = resultOf(rows, "table");
  checkOptions(options, TABLE_RULES, "show a table");
  return new Table(result, options);
}

/** A bare Result as a notebook shows it: its first 20 rows, how many there are, the range, what was left out. */
export function resultHtml(result: Result): string {
  return tableHtml(tableModel(result, { limit: 20 }));
}
