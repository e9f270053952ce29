import type { Graph, TierNumbers } from "./graph.js";

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

const BY_TIER: Readonly<Record<number, Readonly<Record<ReviewName, boolean>>>> = {
  1: { architectureReview: true, codeReview: true, securityReview: true, changeManagement: true },
  2: { architectureReview: true, codeReview: true, securityReview: false, changeManagement: false },
  3: {
    architectureReview: false,
    codeReview: true,
    securityReview: false,
    changeManagement: false,
  },
  4: {
    architectureReview: false,
    codeReview: false,
    securityReview: false,
    changeManagement: false,
  },
};

const NONE = {
  architectureReview: null,
  codeReview: null,
  securityReview: null,
  changeManagement: null,
};

/** The reviews of every component, by name. */
export function reviewsOf(graph: Graph, tiers: TierNumbers): Review[] {
  return [...graph.components.values()].map(({ name, tier: written }) => {
    const tier = tiers.get(name) ?? written;
    const asked = BY_TIER[tier] ?? NONE;
    const before = BY_TIER[written] ?? NONE;
    const added = REVIEW_NAMES.filter((each) => asked[each] === true && before[each] !== true);
    return { component: name, tier, ...asked, added };
  });
}
