import type { Chart } from "../../chart/chart-value.js";
import { checkGraph } from "./check.js";
import type { Component, Graph } from "./graph.js";
import { drawGraph, type PictureOptions } from "./picture.js";
import type { TierReport } from "./report.js";

/** A component graph: a value that can be checked and drawn. */
export class TierGraph {
  readonly #graph: Graph;
  #report: TierReport | undefined;

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  /** The file's name. */
  get source(): string {
    return this.#graph.source;
  }

  /** From the lowest to the highest. */
  get stages(): readonly string[] {
    return this.#graph.stages;
  }

  /** As written, by name. */
  get components(): readonly Component[] {
    return [...this.#graph.components.values()];
  }

  /**
   * Every broken rule of section 1.3 with the path that breaks it, the reclassification that follows
   * (to a fixed point), and the reviews that section 1.4 asks for.
   */
  check(): TierReport {
    return (this.#report ??= checkGraph(this.#graph));
  }

  /**
   * The graph as a chart: boxes with their tier, solid arrows for hard and dashed ones for soft
   * dependencies, stages apart, broken rules marked.
   *
   * @param options `theme`: `"light"` (default) or `"dark"`; `title`.
   * @throws ProbelabError for more than 300 components: what is drawn then can't be read.
   * @example
   * await (await tiers.read("tiers.yaml")).picture().save("out/tiers.svg");
   */
  picture(options: PictureOptions = {}): Chart {
    return drawGraph(this.#graph, this.check(), options);
  }
}
