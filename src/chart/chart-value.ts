import type { Origin } from "../result/origin.js";
import type { Result, Value } from "../result/result.js";
import { displayBundle, type MimeBundle } from "./display.js";
import { chartPage } from "./page/chart-page.js";
import { pdfPicture } from "./render/pdf.js";
import { pngPicture } from "./render/png.js";
import { svgPicture } from "./render/svg.js";
import { saveChart } from "./save-chart.js";
import type { VegaLiteSpec } from "./frame.js";
import type { Recipe } from "./recipe.js";

/** The rows that a chart draws or a table shows, as they came from the question. */
export interface ChartRows {
  readonly names: readonly string[];
  readonly rows: readonly (readonly Value[])[];
}

/**
 * A chart: a value that draws nothing until it is shown or saved.
 *
 * As the last expression of a cell it is shown; `await chart.line(counts).save("counts.svg")`
 * writes it.
 */
export class Chart {
  /** The whole Vega-Lite specification, with its data and, in `usermeta.probelab`, its origin. */
  readonly spec: VegaLiteSpec;
  /** The Result that it is a chart of. */
  readonly result: Result;
  /** The rows drawn, for `.csv`: fewer than 5,000. They are frozen: a file tells what the picture shows. */
  readonly data: ChartRows;
  /** How it was made of its Result; `drawRecipe` makes it again. */
  readonly recipe: Recipe;

  constructor(spec: VegaLiteSpec, result: Result, data: ChartRows, recipe: Recipe) {
    this.spec = spec;
    this.result = result;
    this.data = frozenRows(data);
    this.recipe = recipe;
  }

  /** Where the data comes from. */
  get origin(): Origin {
    return this.result.origin;
  }

  /** The chart as an SVG document: same data, same bytes, wherever and in whatever time zone. */
  svg(): Promise<string> {
    return svgPicture(this.spec);
  }

  /** The chart as a PNG picture. @param options `scale`: pixels per CSS pixel, default 2. */
  png(options: { scale?: number } = {}): Promise<Buffer> {
    return pngPicture(this.spec, options.scale ?? 2);
  }

  /** The chart as a PDF of one page: vectors, text to select, its origin attached. Same data, same bytes. */
  pdf(): Promise<Buffer> {
    return pdfPicture(this.spec, this.origin.askedAt);
  }

  /**
   * The chart as an HTML page: interactive, self-contained, offline. For several charts in one page
   * see `chart.page`.
   */
  html(): Promise<string> {
    return chartPage([this]);
  }

  /**
   * Writes the chart, in the format of the path's extension: `.svg`, `.png`, `.pdf`, `.json` (the spec),
   * `.html` (an interactive page, offline), `.csv` (the rows drawn) or
   * `.parquet` (the rows drawn, typed, with the origin in the metadata).
   * The file is written whole or not at all; folders are made.
   *
   * @param target a path, or a file: URL.
   * @returns the absolute path.
   * @throws ProbelabError for another extension, or where the path can't be written.
   * @example
   * await chart.line(durations, { y: "q50" }).save("out/run-durations.svg");
   */
  save(target: string | URL): Promise<string> {
    return saveChart(this, target);
  }

  /** What a notebook shows: an interactive chart where it can, else a picture. */
  [Symbol.for("Jupyter.display")](): Promise<MimeBundle> {
    return displayBundle(this);
  }
}

function frozenRows({ names, rows }: ChartRows): ChartRows {
  return Object.freeze({
    names: Object.freeze([...names]),
    rows: Object.freeze(rows.map((row) => Object.freeze([...row]))),
  });
}
