/** Relative changes up to this are ordinary: parts of a service drift by a few percent a week. */
export const PART_TOLERANCE = 0.05;
/** The same for measurements per run, which differ between releases, and for the total, which differs between weeks. */
export const TOTAL_TOLERANCE = 0.1;
/** Standard errors beyond which the total has changed; strict, because people ask often. */
export const CERTAIN = 4;
/** A search gives up after so many causes; a sentence names three of them. */
export const MOST_CAUSES = 20;
/** Fewer runs don't show how many measurements one holds. */
export const LEAST_RUNS = 20;
/** Part of the rows that must be left to see what the rest did. */
export const LEAST_REST = 0.2;

/** Logarithm of the odds against an element before it is looked at: 1 in 150 that anything of its kind changed. */
const CAUTION = 5;
/** A score above this only may be a cause: odds of 1 in 10 in place of those. */
export const ONCE_IN_TEN = Math.log(10) - CAUTION;

/**
 * What the logarithm of an element's likelihood ratio must exceed: the extended BIC of J. Chen and
 * Z. Chen, Biometrika 95 (3), 2008, with the number of combinations of dimensions and of elements of each.
 */
export function priceOf(combinations: number, groups: number): number {
  return CAUTION + Math.log(combinations + 1) + Math.log(groups);
}

/** Two groups changed alike where the lesser did by this part of what the greater did. */
export const ALIKE_RATIO = 0.5;

/** More runs than this multiple of the expected is a surge, not longer runs. */
export const FLOOD = 4;
/**
 * How the measurements of one run scatter, as a squared coefficient of variation, before any are seen:
 * it counts as so many leaves; and the least.
 */
export const RUN_SCATTER = { of: 0.5, least: 0.2 };

/** Assumed rows of the heaviest user (a probe that runs some tests a day); factor for heavier users not observed. */
export const HEAVIEST = 10;
export const UNSEEN = 2;
/** Fewer programs and networks can't tell how users scatter. */
export const LEAST_PLACES = 12;

// Releases.

/** Releases below this part of their program's rows aren't expected where there are none. */
export const LEAST_SHARE = 0.01;
/** A release whose rows grew by this factor is one that users go to, however few it sends. */
export const NEW = 2;
/** Log-likelihood margin for naming a release over its program. */
export const LIKELIER = 1.5;

// Counts.

/** Number of causes held out when the expectation is re-estimated in each pass. */
export const SUREST = [0, 1, MOST_CAUSES];
/**
 * Prior dispersion when there are too few groups: rows come in runs of some thirty; of runs some users
 * start several. Worth this many groups.
 */
export const CLUMP = { rows: 30, runs: 3 };

// Shares and means.

/** Usual overdispersion of a rate (× binomial): one user's rows are partly alike. */
export const RATE_CLUMP = { measurements: 4, runs: 2 };
/** Weight of the prior, in rows or groups. */
export const PRIOR = 4;
/** All rows changed alike if the causes leave this many times the squared error. */
export const ALIKE = 4;

/** Fractions of the price above which a cause is "named" and "may be"; 100 quiet weeks give 2 and 5. */
export const NAMED = 0.7;
export const MAYBE = 0.3;
/** Effective number of places below which a change may be one user's. */
export const WIDE = 2;
