import type { Chart } from "../../../src/index.js";

/** A layer of a chart's spec, as the tests read it. */
export interface Layer {
  readonly data: { readonly values: readonly Record<string, unknown>[] };
  readonly mark: Readonly<Record<string, unknown>> & { readonly type: string };
  readonly encoding: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
}

/** Its layers. */
export function layers(chart: Chart): Layer[] {
  return chart.spec.layer as Layer[];
}

/** The subtitle as one text. */
export function subtitle(chart: Chart): string {
  return ((chart.spec.title as { subtitle?: string[] }).subtitle ?? []).join(" ");
}

/** The title as one text. */
export function title(chart: Chart): string {
  return (chart.spec.title as { text: string[] }).text.join(" ");
}

/** The series in the order of the legend, with their colours. */
export function legend(chart: Chart): { names: string[]; colours: string[] } {
  const colour = layers(chart).find(({ encoding }) => encoding.color?.scale)?.encoding.color;
  const scale = colour?.scale as { domain: string[]; range: string[] } | undefined;
  return { names: scale?.domain ?? [], colours: scale?.range ?? [] };
}

/** Rows that the spec holds, in all its layers. */
export function specRows(chart: Chart): number {
  return layers(chart).reduce((sum, { data }) => sum + data.values.length, 0);
}
