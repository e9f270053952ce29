import { type LoggerInterface, type Spec, View, logger, None, parse } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { inertLoader } from "../../inert-loader.js";
import { exactDates } from "./exact-dates.js";
import { highlightSeries } from "./highlight-series.js";
import { showTooltip } from "./tooltip.js";

/** As `hover.ts` and `fluid.ts` name them. */
const KEPT = "probelab_series";
const PLACE = "probelab_place";

/** The data block of a figure: the compiled chart, and the field of its series. */
interface ChartContent {
  readonly vega: Spec;
  readonly series?: string;
}

/** Makes the charts of the page live, one after the other: the reader may scroll in between. */
async function drawAll(): Promise<void> {
  // Texts are measured when a chart is drawn.
  await Promise.allSettled(
    ["400", "700"].map((weight) => document.fonts.load(`${weight} 12px Arimo`)),
  );
  for (const figure of document.querySelectorAll<HTMLElement>("figure.probelab-chart")) {
    try {
      await drawChart(figure);
      figure.classList.add("probelab-live");
    } catch {
      // Its picture stands where it was, and says the same.
      figure.classList.add("probelab-still");
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
  document.documentElement.classList.add("probelab-drawn");
}

/** Draws a figure's chart beside its picture. @throws where Vega fails, nothing is left then. */
async function drawChart(figure: HTMLElement): Promise<void> {
  const plot = figure.querySelector(".probelab-plot");
  const json = figure.querySelector("script.probelab-content")?.textContent;
  if (!plot || !json) throw new Error("The figure holds no chart");
  const { vega, series } = JSON.parse(json) as ChartContent;
  vega.data?.forEach(unpack);

  const place = document.createElement("div");
  place.className = "probelab-drawing";
  plot.append(place);
  vega.signals?.forEach((signal) => measure(signal, plot.clientWidth));
  const faults: unknown[] = [];
  let view: View | undefined;
  try {
    const dataflow = parse(vega, undefined, { ast: true });
    exactDates(dataflow);
    view = new View(dataflow, {
      renderer: "svg",
      hover: true,
      expr: expressionInterpreter,
      loader: inertLoader as never,
      logger: quietLogger(faults),
      tooltip: showTooltip,
    });
    await view.initialize(place).runAsync();
    if (faults.length > 0) throw faults[0];
    nameDrawing(figure, place);
    const live = view;
    if (series === undefined) return;
    const keeps = vega.signals?.some(({ name }) => name === KEPT) === true;
    highlightSeries(place, series, (kept) => {
      if (keeps) void live.signal(KEPT, kept ?? null).runAsync();
    });
  } catch (error) {
    view?.finalize();
    place.remove();
    throw error;
  }
}

/** Vega makes signals before it has a container: without this a chart is drawn twice, narrow first. */
function measure(signal: object, width: number): void {
  const { name, init } = signal as { name: string; init?: string };
  if (name !== PLACE || init === undefined || width === 0) return;
  Object.assign(signal, { init: init.replaceAll("containerSize()[0]", String(width)) });
}

/** Rows that stand as `names` and `rows` of values, as `figures.ts` packs them. */
function unpack(source: object): void {
  const { names, rows } = source as { names?: readonly string[]; rows?: readonly unknown[][] };
  if (names === undefined || rows === undefined) return;
  const values = rows.map((row) => Object.fromEntries(row.map((value, at) => [names[at]!, value])));
  Object.assign(source, { values });
}

/** Vega's logger would write data to the console; a fault means that the drawing isn't whole. */
function quietLogger(faults: unknown[]): LoggerInterface {
  const quiet = logger(None);
  quiet.error = (...args: readonly unknown[]) => {
    faults.push(args[0]);
    return quiet;
  };
  return quiet;
}

/** The drawing is one picture to a screen reader, under the name and the words of the static one. */
function nameDrawing(figure: HTMLElement, place: HTMLElement): void {
  place.setAttribute("role", "img");
  const text = (selector: string): string => figure.querySelector(selector)?.textContent ?? "";
  const name = text(".probelab-picture > svg > title");
  const words = text(".probelab-picture > svg > desc");
  const alt = figure.querySelector<HTMLImageElement>(".probelab-picture > img")?.alt;
  place.setAttribute("aria-label", words || name || alt || "Chart");
}

void drawAll();
