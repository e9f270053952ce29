import { readInstant } from "../../time/instant.js";
import { buildGraph } from "./build-graph.js";
import { readGraphFile } from "./graph-file.js";
import { TierGraph } from "./tier-graph.js";
import { TIER_RULES } from "./rules.js";

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
