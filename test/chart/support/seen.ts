import { None, parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import type { Chart } from "../../../src/index.js";

/** A mark's datum. */
export type Datum = Readonly<Record<string, unknown>>;

/** A chart's compiled Vega view, run. */
export async function compiledView(chart: Chart): Promise<View> {
  const { spec } = compile(chart.spec as unknown as TopLevelSpec);
  const view = new View(parse(spec), { renderer: "none" }).logLevel(None);
  await view.runAsync();
  return view;
}

/** A part of Vega's scene graph. */
interface Part {
  readonly marktype?: string;
  readonly role?: string;
  readonly name?: string;
  readonly datum?: Datum;
  readonly items?: readonly Part[];
}

/** The data of all marks in the plots of a chart's compiled view, with the panel that each is in. */
export async function drawnData(chart: Chart): Promise<{ panel: string; datum: Datum }[]> {
  const view = await compiledView(chart);
  const { root } = view.scenegraph() as unknown as { root: Part };
  const found = marks(root, "");
  view.finalize();
  return found;
}

function marks(part: Part, panel: string): { panel: string; datum: Datum }[] {
  const { marktype, role = "", name = "", items = [], datum } = part;
  if (/^(axis|legend|title)/.test(role)) return [];
  const own = /concat_\d+_group/.test(name) ? name : panel;
  const inner = items.flatMap((each) => marks(each, own));
  return marktype === undefined && datum !== undefined && items.length === 0
    ? [{ panel, datum }]
    : inner;
}
