import { inspect } from "node:util";
import { tableHtml, tableMarkdown } from "../../chart/table-outputs.js";
import type { Graph } from "./graph.js";
import type { Reclassified } from "./reclassify.js";
import { reportTables } from "./report-tables.js";
import { reportText } from "./report-text.js";
import type { Review } from "./reviews.js";
import { TIER_RULES, type TierRule } from "./rules.js";

/** A rule of section 1.3 that is broken. */
export interface BrokenRule {
  /** 1 to 9. */
  readonly rule: number;
  /** The rule's name. */
  readonly name: string;
  readonly component: string;
  /** The components that break it, in the direction of the dependency. */
  readonly path: readonly string[];
  readonly message: string;
  readonly remedy: string;
  /** Broken by the tiers as the file has them. */
  readonly written: boolean;
  /** Broken still, or only then, when all is reclassified. */
  readonly resulting: boolean;
}

/** What `check` finds. */
export class TierReport {
  /** The file's name. */
  readonly source: string;
  /** By rule, then by component. */
  readonly broken: readonly BrokenRule[];
  /** The components whose tier number the policy lowers, by name. */
  readonly reclassify: readonly Reclassified[];
  /** What 1.4 asks of each component by the tier that results, by name. */
  readonly reviews: readonly Review[];
  /** Rules with something that the data can't show. */
  readonly unchecked: readonly TierRule[];

  constructor(
    graph: Pick<Graph, "source">,
    broken: readonly BrokenRule[],
    reclassify: readonly Reclassified[],
    reviews: readonly Review[],
  ) {
    this.source = graph.source;
    this.broken = broken;
    this.reclassify = reclassify;
    this.reviews = reviews;
    this.unchecked = TIER_RULES.filter(({ unchecked }) => unchecked !== "");
  }

  /** Tables with a caption each. */
  get html(): string {
    return reportTables(this).map(tableHtml).join("\n");
  }

  get markdown(): string {
    return reportTables(this).map(tableMarkdown).join("\n");
  }

  /** Text for a console. */
  toString(): string {
    return reportText(this);
  }

  [inspect.custom](): string {
    return this.toString();
  }

  /** What a notebook shows. */
  [Symbol.for("Jupyter.display")](): Record<string, unknown> {
    return {
      "text/html": this.html,
      "text/markdown": this.markdown,
      "text/plain": this.toString(),
    };
  }
}
