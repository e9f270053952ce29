import type { Origin } from "../result/origin.js";
import type { Result } from "../result/result.js";
import { checkTableOptions } from "./check-options.js";
import { checkResult } from "./check-result.js";
import { tableHtml } from "./table-html.js";
import { tableMarkdown } from "./table-markdown.js";
import { tableModel, type TableModel, type TableOptions } from "./table-model.js";

/** A table: a value that a notebook shows. */
export class Table {
  /** The Result that it is a table of. */
  readonly result: Result;
  /** What it was told. */
  readonly options: TableOptions;
  /** What any format shows. */
  readonly model: TableModel;

  constructor(result: Result, options: TableOptions) {
    this.result = result;
    this.options = options;
    this.model = tableModel(result, options);
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

  toString(): string {
    return this.markdown;
  }

  /** What a notebook shows. */
  [Symbol.for("Jupyter.display")](): Record<string, unknown> {
    return { "text/html": this.html, "text/markdown": this.markdown, "text/plain": this.markdown };
  }
}

/**
 * A Result as a table, with bars in the cells.
 *
 * Numbers are text, aligned by their decimals; each bar begins at zero and is full at its column's
 * largest value, or at that of the columns listed with it.
 *
 * @throws ProbelabError for an unknown column, or bars for what isn't a number of zero or more.
 * @example
 * const summary = await lab.measurements.summary({ range, by: "software_version" });
 * table(summary, { bars: ["runs", ["q10", "q50", "q90"]], caption: "Runs by version" });
 */
export function table(result: Result, options: TableOptions = {}): Table {
  checkResult(result, "table");
  checkTableOptions(options);
  return new Table(result, options);
}

const SHOWN_ROWS = 20;

/** A bare Result as a notebook shows it: its first 20 rows, how many there are, the range, what was left out. */
export function resultHtml(result: Result): string {
  return tableHtml(tableModel(result, { limit: SHOWN_ROWS }));
}
