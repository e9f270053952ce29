/** Changes up to this part are ordinary: the parts of a service wander by some percent from week to week. */
export const USUAL = 0.05;
/** The same of measurements a run, in which releases differ by themselves, and of the whole, whose weeks do. */
export const WHOLE = 0.1;
/** Longer or shorter runs change the whole by at least this part: those of some network always do. */
export const LEAST_CHANGE = 0.002;
/** Standard errors from which a change of the whole is certain: there is one whole, but it is asked for again and again. */
export const CERTAIN = 4;
/** A search gives up after so many causes; a sentence names three, a table these. */
export const MOST_CAUSES = 80;
export const MOST_TOLD = 20;
/** Fewer runs don't show how many measurements one holds. */
export const LEAST_RUNS = 20;
/** Part of the rows that must be left to see what the rest did. */
export const LEAST_REST = 0.2;

/** The median of a chi-squared. */
export const CHI_SQUARED = 0.4549;

/** Logarithm of the odds against an element before it is looked at: 1 in 150 that anything of its kind changed. */
const CAUTION = 5;

/**
 * What the logarithm of an element's likelihood ratio must exceed: the extended BIC of J. Chen and
 * Z. Chen, Biometrika 95 (3), 2008, with the number of combinations of dimensions and of elements of each.
 */
export function priceOf(combinations: number, groups: number): number {
  return CAUTION + Math.log(combinations + 1) + Math.log(groups);
}

/** Two groups changed alike where the lesser did by this part of what the greater did. */
export const ALONG = 0.5;

/** So many times the runs that were expected are a flood of others' runs: it is no matter of their length. */
export const FLOOD = 4;
/**
 * How the measurements of one run scatter, as a squared coefficient of variation, before any are seen:
 * it counts as so many leaves; and the least.
 */
export const RUN_SCATTER = { of: 0.5, leaves: 4, least: 0.2 };

/** How runs scatter before any change is seen, by how many of a Poisson process one counts as, over so many rows. */
export const SCATTER = { of: 3, rows: 50 };
/** Rows of the heaviest user before one is seen: a probe that runs some tests a day; and how much heavier those may be that stayed. */
export const HEAVIEST = 10;
export const UNSEEN = 2;
/** Fewer programs and networks can't tell how users scatter. */
export const LEAST_PLACES = 12;
