import { None, parse, View, type Item, type Scene, type SceneGroup } from "vega";
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

/** The data of all marks in the plots of a chart's compiled view, with the panel that each is in. */
export async function drawnData(chart: Chart): Promise<{ panel: string; datum: Datum }[]> {
  const view = await compiledView(chart);
  const found: { panel: string; datum: Datum }[] = [];
  walk(view.scenegraph().root as unknown as Scene, "");
  view.finalize();
  return found;

  function walk(scene: Scene, panel: string): void {
    const {
      role = "",
      name = "",
      items,
      marktype,
    } = scene as Scene & {
      role?: string;
      name?: string;
      marktype: string;
    };
    if (/^(axis|legend|title)/.test(role)) return;
    const own = /concat_\d+_group/.test(name) ? name : panel;
    for (const item of items as (Item<Datum> | SceneGroup)[]) {
      if (marktype === "group")
        for (const inner of (item as SceneGroup).items) walk(inner as unknown as Scene, own);
      else if (item.datum) found.push({ panel: own, datum: item.datum as Datum });
    }
  }
}
