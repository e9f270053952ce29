import type { Graph } from "./graph.js";
import {
  causedSeverities,
  hardDependents,
  reclassify,
  type Reclassified,
  type TierNumbers,
} from "./reclassify.js";
import { TIER_RULES, violationsOf, type Situation, type Violation } from "./rules.js";

/** A rule of section 1.3 that is broken. */
export interface BrokenRule extends Violation {
  /** The rule's name. */
  readonly name: string;
  /** Broken by the tiers as the file has them. */
  readonly written: boolean;
  /** Broken still, or only then, when all is reclassified. */
  readonly resulting: boolean;
}

/** What section 1.4 asks of a component; null where it names no rule for the tier (5 and up). */
export interface Review {
  readonly component: string;
  /** The tier that results. */
  readonly tier: number;
  readonly architectureReview: boolean | null;
  readonly codeReview: boolean | null;
  /** By a third party. */
  readonly securityReview: boolean | null;
  readonly changeManagement: boolean | null;
  /** What the tier as written didn't ask for: it comes with the reclassification. */
  readonly added: readonly ReviewName[];
}

/** The columns of section 1.4. */
export const REVIEW_NAMES = [
  "architectureReview",
  "codeReview",
  "securityReview",
  "changeManagement",
] as const;

export type ReviewName = (typeof REVIEW_NAMES)[number];

/** What a check finds. */
export interface Findings {
  /** By rule, then by component. */
  readonly broken: readonly BrokenRule[];
  /** The components whose tier number the policy lowers, by name. */
  readonly reclassify: readonly Reclassified[];
  /** What 1.4 asks of each component by the tier that results, by name. */
  readonly reviews: readonly Review[];
}

/** Checks a graph against section 1.3, reclassifies to a fixed point, and tells the reviews of 1.4. */
export function checkGraph(graph: Graph): Findings {
  const caused = causedSeverities(graph);
  const { tiers, reclassified } = reclassify(graph, caused);
  const shared = { graph, caused, dependents: hardDependents(graph) };
  const before = violationsIn({
    ...shared,
    tiers: new Map([...graph.components.values()].map(({ name, tier }) => [name, tier])),
    reclassified: new Map(),
  });
  const after = violationsIn({
    ...shared,
    tiers,
    reclassified: new Map(reclassified.map((each) => [each.component, each])),
  });
  // As it stands after all is reclassified, where that changes it.
  const broken = [...new Map([...before, ...after])].map(([key, violation]): BrokenRule => ({
    ...violation,
    name: TIER_RULES[violation.rule - 1]?.name ?? "",
    remedy: after.has(key) ? violation.remedy : "Reclassify as told below.",
    written: before.has(key),
    resulting: after.has(key),
  }));
  const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  broken.sort(
    (a, b) =>
      a.rule - b.rule ||
      inOrder(a.component, b.component) ||
      inOrder(a.path.join("\n"), b.path.join("\n")) ||
      inOrder(a.message, b.message),
  );
  return { broken, reclassify: reclassified, reviews: reviewsOf(graph, tiers) };
}

/** What is broken, by what tells it apart in both situations; the path of rule 3 is that of its reclassification. */
function violationsIn(situation: Situation): Map<string, Violation> {
  return new Map(
    violationsOf(situation).map((each) => {
      const { rule, component, path, relation } = each;
      return [JSON.stringify([rule, component, rule === 3 ? "" : path, relation]), each];
    }),
  );
}

// The highest tier number that asks for each.
const UP_TO: Readonly<Record<ReviewName, number>> = {
  architectureReview: 2,
  codeReview: 3,
  securityReview: 1,
  changeManagement: 1,
};

/** The reviews of every component, by name. */
function reviewsOf(graph: Graph, tiers: TierNumbers): Review[] {
  return [...graph.components.values()].map(({ name, tier: written }) => {
    const tier = tiers.get(name) ?? written;
    const asked = (review: ReviewName): boolean | null => (tier > 4 ? null : tier <= UP_TO[review]);
    return {
      component: name,
      tier,
      architectureReview: asked("architectureReview"),
      codeReview: asked("codeReview"),
      securityReview: asked("securityReview"),
      changeManagement: asked("changeManagement"),
      added: REVIEW_NAMES.filter((review) => asked(review) && written > UP_TO[review]),
    };
  });
}
