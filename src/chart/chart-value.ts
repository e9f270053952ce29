import { redactTexts } from "../base/redact.js";
import type { MimeBundle } from "../base/mime-bundle.js";
import type { Origin } from "../result/origin.js";
import type { Result } from "../result/result.js";
import type { Recipe } from "./options.js";
import type { VegaLiteSpec } from "./render/theme.js";
import { chartPage } from "./render/page/figures.js";
import { pngPicture, pngSize } from "./render/png.js";
import { notebookSpec, pageSpec, type SpecFor } from "./render/screens.js";
import { layOut, originJson, titleText } from "./render/svg.js";
import { csv, saveAs, titledParquet, type ChartRows, type SaveOptions } from "./render/save.js";

/** Pixels per CSS pixel. */
const SCALE = 2;

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
  /** The rows drawn, for `.csv`: fewer than 5,000. They are frozen: a file holds what the picture shows. */
  readonly data: ChartRows;
  /** Its kind and options; `drawRecipe` makes it again. */
  readonly recipe: Recipe;
  readonly #screen: SpecFor;

  /** @param screen lays it out for screens. */
  constructor(
    spec: VegaLiteSpec,
    result: Result,
    { names, rows }: ChartRows,
    recipe: Recipe,
    screen: SpecFor = () => undefined,
  ) {
    // A title or a row may hold a password: no file of the chart does.
    this.spec = redactTexts(spec);
    this.result = result;
    this.data = Object.freeze({
      names: Object.freeze([...names]),
      rows: Object.freeze(redactTexts(rows).map((row) => Object.freeze(row))),
    });
    this.recipe = recipe;
    this.#screen = (place) => redactTexts(screen(place));
  }

  /** The origin of the data. */
  get origin(): Origin {
    return this.result.origin;
  }

  /** The spec as pages draw it: with interaction, and laid out for places of several widths unless one was chosen. */
  screenSpec(): Promise<VegaLiteSpec> {
    return pageSpec({ spec: this.spec, screen: this.#screen });
  }

  /**
   * The chart as an SVG document: same data, same bytes, wherever and in whatever time zone.
   *
   * @example
   * const document = await chart.area(counts).svg();
   */
  svg(): Promise<string> {
    return layOut(this.spec);
  }

  /**
   * The chart as a PNG picture.
   *
   * @param options `scale`: pixels per CSS pixel, default 2.
   * @throws ProbelabError where the package that draws pixels is not installed.
   * @example
   * const picture = await chart.area(counts).png({ scale: 1 });
   */
  png(options: { scale?: number } = {}): Promise<Buffer> {
    return pngPicture(this.spec, options.scale ?? SCALE);
  }

  /**
   * The chart as an HTML page: interactive, self-contained, offline. For several charts on one page
   * see `postmortem`, or run the notebook.
   *
   * @example
   * const page = await chart.area(counts).html();
   */
  html(): Promise<string> {
    return chartPage([this]);
  }

  /**
   * Writes the chart, in the format of the path's extension: `.svg`, `.png`, `.json` (the spec),
   * `.html` (an interactive page, offline), `.csv` (the rows drawn) or
   * `.parquet` (the rows drawn, typed, with the origin in the metadata).
   * The file is written whole or not at all; folders are made.
   *
   * @param target a path, or a file: URL.
   * @param options `bom: true` begins a CSV with a byte order mark, for Excel.
   * @returns the absolute path.
   * @throws ProbelabError for another extension, or where the path can't be written.
   * @example
   * await chart.line(durations, { y: "q50" }).save("out/run-durations.svg");
   */
  save(target: string | URL, options: SaveOptions = {}): Promise<string> {
    const formats = {
      ".svg": () => this.svg(),
      ".png": () => this.png(),
      ".html": () => this.html(),
      ".json": () => `${JSON.stringify(this.spec, null, 1)}\n`,
      ".csv": () => csv(this.data.names, this.data.rows),
      ".parquet": () => titledParquet(this.data, originJson(this.spec), titleText(this.spec.title)),
    };
    return saveAs("chart", target, formats, options);
  }

  /**
   * What a notebook shows: Vega-Lite for JupyterLab, Notebook 7 and VS Code, which draw it
   * themselves, offline; a PNG for the classic notebook, nbconvert and GitHub, unless the frontend adds
   * one of its own drawing.
   * No text/html: where both are there it wins over Vega-Lite, and untrusted notebooks strip its scripts.
   */
  async [Symbol.for("Jupyter.display")](frontend: { addsPng?: boolean } = {}): Promise<MimeBundle> {
    const addsPng = frontend.addsPng === true;
    const png = addsPng ? undefined : await this.png();
    const laid = { spec: this.spec, screen: this.#screen };
    const spec = await (addsPng ? notebookSpec : pageSpec)(laid);
    const { description } = this.spec;
    return {
      data: {
        "application/vnd.vegalite.v5+json": spec,
        ...(png && { "image/png": png.toString("base64") }),
        "text/plain": typeof description === "string" ? description : "Chart",
      },
      metadata: png ? { "image/png": pngSize(png, SCALE) } : {},
    };
  }
}
