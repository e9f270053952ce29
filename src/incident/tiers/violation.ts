import type { Graph, TierNumbers } from "./graph.js";
import type { Spread } from "./spread.js";
import type { Reclassified } from "./reclassify.js";
import { shown } from "../shown.js";

/** A rule broken by one state of the tiers. */
export interface Violation {
  readonly rule: number;
  /** The component that breaks it. */
  readonly component: string;
  /** The path that breaks it, the component among its ends. */
  readonly path: readonly string[];
  /** What is wrong, a sentence. */
  readonly message: string;
  /** What to do, a sentence. */
  readonly remedy: string;
}

/** What the rules look at. */
export interface Situation {
  readonly graph: Graph;
  /** As written, or as reclassified. */
  readonly tiers: TierNumbers;
  /** The severity that an outage of each component can cause. */
  readonly caused: ReadonlyMap<string, Spread>;
  /** For each component those that hard-depend on it. */
  readonly dependents: ReadonlyMap<string, readonly string[]>;
  /** What was reclassified to reach `tiers`. */
  readonly reclassified: ReadonlyMap<string, Reclassified>;
}

/** The tier of a component in a situation. */
export function tierIn({ tiers }: Situation, name: string): number {
  const tier = tiers.get(name);
  if (tier === undefined) throw new TypeError(`No tier for ${name}`);
  return tier;
}

/** `"api" (tier 2)`, or `"api" (tier 3, reclassified to 2)`. */
export function named(situation: Situation, name: string): string {
  const changed = situation.reclassified.get(name);
  return changed === undefined
    ? `${shown(name)} (tier ${tierIn(situation, name)})`
    : `${shown(name)} (tier ${changed.from}, reclassified to ${changed.to})`;
}
