import type { Chart } from "../chart/chart-value.js";
import { readInstant } from "../time/instant.js";
import { buildGraph } from "./build-graph.js";
import { checkGraph } from "./check.js";
import type { Component, Graph } from "./graph.js";
import { drawGraph, type PictureOptions } from "./picture.js";
import { readGraphFile } from "./read-file.js";
import { TierReport } from "./report.js";
import { TIER_RULES } from "./rules.js";

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
   *
   * @example
   * (await tiers.read("tiers.yaml")).check().broken;
   */
  check(): TierReport {
    return (this.#report ??= new TierReport(this.#graph.source, checkGraph(this.#graph)));
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

/** Component graphs and the rules of tiers: policy, sections 1.3 and 1.4. See docs/incidents.md. */
export const tiers = {
  /** The nine rules by name, with what of each a file can show and what it can't. */
  rules: TIER_RULES,

  /**
   * Reads a component graph from a YAML or JSON file, at most 2 MB and 2,000 components.
   *
   * @throws ProbelabError where the file can't be read or parsed; for a missing tier, an unknown
   *   name or stage, a cycle of hard dependencies, each with its place.
   * @example
   * (await tiers.read("docs/examples/tiers.yaml")).check();
   */
  async read(path: string): Promise<TierGraph> {
    const { content, source, changedAt } = await readGraphFile(path);
    return new TierGraph(buildGraph(content, source, changedAt));
  },

  /**
   * A component graph of an object that is written as the file is.
   *
   * @param options `name`: for reports and pictures, default `"graph"`; `asOf`: when it held,
   *   default the present.
   * @throws ProbelabError as `read`.
   * @example
   * tiers.graph({ components: { api: { tier: 2, hard: ["database"] }, database: { tier: 1 } } }).check();
   */
  graph(
    content: unknown,
    options: { readonly name?: string; readonly asOf?: Date | string } = {},
  ): TierGraph {
    const asOf = readInstant(options.asOf ?? new Date(), "UTC", "time of a component graph");
    return new TierGraph(buildGraph(content, options.name ?? "graph", asOf));
  },
} as const;
