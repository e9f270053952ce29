/** Relative changes up to this are ordinary: parts of a service drift by a few percent a week. */
export const PART_TOLERANCE = 0.05;
/** The same for releases and measurements per run, and for the total, which differs between weeks. */
export const TOTAL_TOLERANCE = 0.1;
/** Standard errors beyond which the total has changed; strict, because people ask often. */
export const CERTAIN = 4;
/** Fewer runs don't show how many measurements one holds. */
export const LEAST_RUNS = 20;
/** A release below this part of its program's rows isn't expected where there are none. */
export const LEAST_SHARE = 0.01;

/** A search gives up after so many causes. */
export const MOST_CAUSES = 20;
/** Logarithm of the odds against any cause before the rows are seen: what is named isn't chance in 150 questions. */
export const CAUTION = Math.log(150);
/** A change of the whole is mentioned where chance gives less than one in ten. */
export const ONCE_IN_TEN = Math.log(10);
/** A change that may be one user's needs odds of so much more (on the log scale) to be mentioned. */
export const ONE_USER = Math.log(1000);
/** Log-likelihood by which one account must be better than another. */
export const LIKELIER = 1.5;
/** A change that fewer places speak for may be one user's. */
export const WIDE = 2;
/** So much log-likelihood one place (program, country and network) can give: what happened there may be its own. */
export const PLACE = 4;
/** Users heavier than any that were seen come and go, too: so many times the variance. */
export const UNSEEN = 2;
/** What is known beforehand weighs as so many rows, or groups of users. */
export const PRIOR = 4;
/** So many groups of users show a dispersion; fewer are helped out by what is usual. */
export const BIN = 30;
/** Groups are taken apart by size into so many bins at most: heavier places scatter more. */
export const MOST_BINS = 20;
/** Of rows that come one by one, a further cause makes up at least this part of the excess. */
export const LEAST_PART = 0.2;
/** Dispersion of a count before any is seen: rows come in runs of some thirty, some users start several runs. */
export const CLUMP = { rows: 30, runs: 3 };
/** The same of shares and means: rows of one user are alike in part. */
export const RATE_CLUMP = { measurements: 4, runs: 2, logs: 2, rows: 1 };
/** The squared coefficient of variation of one run before any is seen, and the least. */
export const RUN_SCATTER = { of: 0.5, least: 0.2 };
/** Runs that hold less than this many measurements, on the mean, can't hold fewer; where runs hold more, they may, too. */
export const HARDLY_ONE = 1.5;
/** More runs than this multiple of the expected are a flood, which shows nothing of upgrades. */
export const FLOOD = 4;
/** A value that has this part of a release's rows, and they that part of its, is a placeholder. */
export const NEARLY = 0.95;
/** This part of a program's rows must be left beside causes to show where its users went. */
export const LEAST_REST = 0.2;
