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
  /** 1 to 9. */
  readonly rule: number;
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
  const written: Situation = {
    ...shared,
    tiers: new Map([...graph.components.values()].map(({ name, tier }) => [name, tier])),
    reclassified: new Map(),
  };
  const resulting: Situation = {
    ...shared,
    tiers,
    reclassified: new Map(reclassified.map((each) => [each.component, each])),
  };
  const [before, after] = [violations(written), violations(resulting)];
  const broken = [...new Set([...before.keys(), ...after.keys()])].flatMap((key): BrokenRule[] => {
    // As it stands after all is reclassified, where that changes it.
    const violation = after.get(key) ?? before.get(key);
    if (violation === undefined) return [];
    const { rule, component, path, message, remedy } = violation;
    return [
      {
        rule,
        name: TIER_RULES[rule - 1]?.name ?? "",
        component,
        path,
        message,
        remedy: after.has(key) ? remedy : "Reclassify as told below.",
        written: before.has(key),
        resulting: after.has(key),
      },
    ];
  });
  broken.sort(
    (a, b) =>
      a.rule - b.rule ||
      compare(a.component, b.component) ||
      compare(a.path.join("\n"), b.path.join("\n")) ||
      compare(a.message, b.message),
  );
  return { broken, reclassify: reclassified, reviews: reviewsOf(graph, tiers) };
}

/** What is broken, by what it is told apart by in both situations. */
function violations(situation: Situation): Map<string, Violation> {
  const found = violationsOf(situation);
  // The path of rule 3 is one of reclassification; the ends and the sentence's verb tell others.
  return new Map(
    found.map((each) => [
      JSON.stringify([
        each.rule,
        each.component,
        each.rule === 3 ? "" : each.path,
        each.rule === 7 ? each.message : "",
      ]),
      each,
    ]),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
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
