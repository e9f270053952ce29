import type { Move } from "./releases.js";
import type { CauseWhere } from "../words.js";

/** What is said of a cause in place of its numbers. */
export interface Told {
  readonly headline: string;
  readonly evidence: string;
  readonly details?: readonly string[];
  /** Of rows whose runs hold fewer or more measurements than before. */
  readonly holds?: "fewer" | "more";
}

/** Rows, and what they contribute to the change of the whole. */
export interface Part {
  readonly where: CauseWhere;
  readonly leaves: readonly number[];
  readonly before: number | null;
  readonly after: number | null;
  readonly change: number;
  /** Half of its 95 % interval. */
  readonly half: number;
  /** Of a rate: what its own change contributes, and its weight's. */
  readonly rate?: number;
  readonly mix?: number;
  /** True if some rows of its values are of a part before it. */
  readonly rest?: boolean;
  /** True if its rows after are those that would be there, had its runs held what was to be expected. */
  readonly isAsIf?: boolean;
  /** Why it only may be a cause; missing where that is certain. */
  readonly doubt?: string | undefined;
  /** Of what has no row in the earlier range: that it isn't new. */
  readonly history?: string;
  /** What happened, where more is known than how much. */
  readonly told?: Told | undefined;
}

/** What a change is made of. */
export interface Account {
  readonly before: number | null;
  readonly after: number | null;
  /** Disjoint. */
  readonly parts: readonly Part[];
  /** What all other rows did. */
  readonly rest: Part;
  readonly moves: readonly Move[];
  /** Why these rows are too few to tell; missing where they aren't. */
  readonly tooFew?: string | undefined;
  /** Said after the causes. */
  readonly remarks: readonly string[];
  /** Said below the table. */
  readonly notes: readonly string[];
}
