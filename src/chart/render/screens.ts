import type { VegaLiteSpec } from "./theme.js";
import { rowsOf, withoutRows } from "./page/shared-rows.js";
import { layOut, svgWidth } from "./svg.js";

/** Pixels of the places that charts are laid out for, beside that of the file: a phone's, a notebook's. */
const PLACES = [350, 724] as const;
/** The notebook's: where nothing can lay out a chart again it is drawn for this one. */
const USUAL = PLACES[1];
/** Pixels of a picture that are neither plot nor names: axis and padding. */
export const BESIDE_PLOT = 84;
/** Pixels of a plot along time in the file, and of a title that stand over its legend. */
const WIDE = 1000;
const BESIDE_LEGEND = 90;
/** One that is narrower in the file (a few upright bars) doesn't grow. */
const GROWING = 560;

/** A chart as it is drawn in a place of so many pixels or more. */
interface Screen {
  readonly least: number;
  readonly spec: VegaLiteSpec;
}

/**
 * The file's spec with what only a pointer can open, or that for a place of so many pixels; undefined where a
 * chart has none of its own, as where an analyst chose the width.
 */
export type SpecFor = (place?: number) => VegaLiteSpec | undefined;

/** A chart as far as its layouts go: the spec of the file, and those for screens. */
interface Laid {
  readonly spec: VegaLiteSpec;
  readonly screen: SpecFor;
}

// The widest needn't be drawn: their plot gives way to what stands beside it, but for the title.
async function widthOf({ spec }: Laid): Promise<number> {
  const plot = Number(spec["width"]);
  return plot >= WIDE ? plot + BESIDE_PLOT + BESIDE_LEGEND : svgWidth(await layOut(spec));
}

/** The spec for notebooks that lay out no chart again: for the usual place, unless the file's is narrower. */
export async function notebookSpec(chart: Laid): Promise<VegaLiteSpec> {
  const spec = (await widthOf(chart)) > USUAL ? chart.screen(USUAL) : undefined;
  return spec === undefined ? (chart.screen() ?? chart.spec) : fitted(spec, USUAL);
}

/** The spec for notebooks of which a page of our own is made: in its `usermeta` it has the layouts for other places, of which the page takes that of its width. */
export async function pageSpec(chart: Laid): Promise<VegaLiteSpec> {
  const [file, width] = [chart.screen() ?? chart.spec, await widthOf(chart)];
  const narrower: Screen[] = [];
  for (const least of PLACES) {
    if (least >= width) break;
    const spec = chart.screen(least);
    if (spec === undefined) return file;
    narrower.push({ least, spec: fitted(spec, least) });
  }
  if (narrower.length === 0) return file;
  const grows = Number(chart.spec["width"]) >= GROWING;
  const screens = [...narrower, { least: width, spec: grows ? fitted(file, width) : file }];
  const main = screens.find(({ least }) => least === USUAL) ?? screens.at(-1)!;
  const rows = rowsOf(main.spec);
  const others = screens.filter((screen) => screen !== main);
  return {
    ...main.spec,
    usermeta: {
      ...(main.spec["usermeta"] as object),
      screens: {
        least: main.least,
        others: others.map(({ least, spec: { usermeta: _, ...spec } }) => ({
          least,
          spec: withoutRows(spec, rows),
        })),
      },
    },
  };
}

/** The layouts of a spec of `pageSpec`, the narrowest first, without the rows that they share; of another spec itself. */
export function screensOf(spec: VegaLiteSpec): {
  readonly rows: readonly string[];
  readonly screens: readonly Screen[];
} {
  const rows = rowsOf(spec);
  const { screens = { least: 0, others: [] } } = (spec["usermeta"] ?? {}) as {
    screens?: { readonly least: number; readonly others: readonly Screen[] };
  };
  const { usermeta: _, ...own } = spec;
  const main = { least: screens.least, spec: withoutRows(own, rows) as VegaLiteSpec };
  return { rows, screens: [...screens.others, main].sort((a, b) => a.least - b.least) };
}

/** One view, as wide as its place with all that stands beside the plot. */
function fitted(spec: VegaLiteSpec, place: number): VegaLiteSpec {
  if (!("mark" in spec || "layer" in spec)) return spec;
  const encoding = Object(spec["encoding"]) as object;
  if (["row", "column", "facet"].some((channel) => channel in encoding)) return spec;
  return { ...spec, width: place, autosize: { type: "fit-x", contains: "padding" } };
}
