import type { CauseWhere } from "../words.js";
import type { Seen } from "./scan.js";
import type { Move, Placeholder } from "./releases.js";

/** Rows, and what they contribute to the change of the whole. */
interface ChangedRows {
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
  readonly doubt?: Doubt | undefined;
  /** The two that may have done it, where these rows don't tell them apart. */
  readonly open?: readonly [CauseWhere, CauseWhere] | undefined;
}

/** What happened to rows. */
type Fact =
  | { readonly kind: "moved" }
  /** All are gone, or came where none did before. */
  | { readonly kind: "all" }
  /** Of a count: a release did, or its whole program. */
  | { readonly kind: "release" }
  | RunsHold
  | ReleaseRate
  | MixShift;

/** Their runs hold more or fewer measurements than was to be expected. */
export interface RunsHold {
  readonly kind: "runs hold";
  /** Measurements a run, and those that were to be expected. */
  readonly holds: number;
  readonly held: number;
  /** The number of runs by that which was to be expected. */
  readonly grown: number;
  /** Median duration in seconds (of fewer), share of surplus rows (of more), before and now. */
  readonly shown?: { readonly was: number; readonly is: number };
}

/** The rate of a release's rows. */
export interface ReleaseRate {
  readonly kind: "release rate";
  /** Its part of all rows, before and now; null where it had none. */
  readonly had: number | null;
  readonly has: number;
  /** Its own rate before. */
  readonly was: number;
}

/** The mix of a dimension's values makes up most of a rate's change: the value with most of it. */
export interface MixShift {
  readonly kind: "mix";
  readonly name: string;
  readonly value: string | null;
  /** Its part of all rows, before and now. */
  readonly was: number;
  readonly is: number;
  /** Its own rate. */
  readonly r0: number;
  readonly r1: number;
  /** What the mix makes up of the change. */
  readonly part: number;
}

export type Part = ChangedRows & Fact;

/** Why a part only may be a cause. */
export type Doubt = "chance" | "one user" | "few users" | "few rows";

/** What a change is made of. */
export interface Account {
  readonly before: number | null;
  readonly after: number | null;
  /** Half of the 95 % interval of their difference. */
  readonly half: number;
  /** Disjoint. */
  readonly parts: readonly Part[];
  /** What all other rows did. */
  readonly rest: Part;
  readonly moves: readonly Move[];
  /** What releases report in place of a country or a network; its rows count where their program's were. */
  readonly placeholders?: readonly Placeholder[];
  /** Small new programs, which are no cause. */
  readonly news?: readonly Part[];
  /** Where nothing is certain: what would have been seen. */
  readonly seen?: Seen | "nothing" | undefined;
  /** Half of the 95 % interval of what some leaves did. */
  readonly halfOf: (leaves: readonly number[]) => number;
}

/** A part of a change: what is behind it, and how much. */
export interface Cause {
  /** The values that its rows share, by dimension; empty for what all rows did alike. */
  readonly where: CauseWhere;
  /** In words: "probe_cc = IT and software_version = 3.10.0". */
  readonly text: string;
  /** The measure over its rows; of a release what was to be expected of them, had its users stayed as they were. */
  readonly before: number | null;
  readonly after: number | null;
  /** What it contributes to the change of the whole; contributions add up to it. */
  readonly change: number;
  /** Ends of the 95 % interval of `change`. */
  readonly low: number;
  readonly high: number;
  /** Its part of the whole's change: 1 is all of it. */
  readonly part: number | null;
  /** Of a share or a mean: what its own rate contributes, and what its weight among the rows does. */
  readonly rate?: number;
  readonly mix?: number;
  /**
   * `named`: beyond what coming and going of users explains; `may be`: more than that would give once
   * in ten questions.
   */
  readonly grade: "named" | "may be";
  /** What happened, where more is known than how much: "app 3.10.0 ends its runs early: …" */
  readonly sentence?: string;
}
