import { KINDS, type Arrow, type Kind } from "./picture-edges.js";
import type { BrokenRule } from "./report.js";

/** Where the broken rules are told. */
export interface Marks {
  /** By the place of the arrow. */
  readonly arrows: ReadonlyMap<number, ReadonlySet<number>>;
  /** By the name of the component. */
  readonly boxes: ReadonlyMap<string, ReadonlySet<number>>;
}

/** Each broken rule at the arrow that it is about, else at the component. */
export function marksOf(broken: readonly BrokenRule[], arrows: readonly Arrow[]): Marks {
  const between = new Map<string, number[]>();
  arrows.forEach(({ from, to }, at) => {
    for (const ends of [pair(from, to), pair(to, from)]) {
      between.set(ends, [...(between.get(ends) ?? []), at]);
    }
  });
  const marks = { arrows: new Map<number, Set<number>>(), boxes: new Map<string, Set<number>>() };
  const add = <Place>(to: Map<Place, Set<number>>, place: Place, rule: number): void =>
    void to.set(place, (to.get(place) ?? new Set()).add(rule));
  for (const each of broken) {
    const arrow = arrowOf(each, arrows, between);
    if (arrow === undefined) add(marks.boxes, each.component, each.rule);
    else add(marks.arrows, arrow, each.rule);
  }
  return marks;
}

/** The place of the arrow that a rule is about; of an arrow that isn't drawn, that of the one kept. */
function arrowOf(
  { rule, path, message }: BrokenRule,
  arrows: readonly Arrow[],
  between: ReadonlyMap<string, readonly number[]>,
): number | undefined {
  const [from = "", to, ...more] = path;
  // Rules 1 and 3 are about a component, their path tells why.
  if (rule === 1 || rule === 3 || to === undefined || more.length > 0) return undefined;
  const places = between.get(pair(from, to)) ?? [];
  // With both quotes: those within a name are escaped.
  const data = rule === 7 && message.includes('" receives data from "');
  const kinds = kindsOf(rule, data);
  const own = places.find((at) => {
    const arrow = arrows[at];
    // Data comes from what a component receives it of: against the path.
    return arrow !== undefined && kinds.includes(arrow.kind) && arrow.from === (data ? to : from);
  });
  return own ?? places.find((at) => arrows[at]?.kind === KINDS[3]);
}

function kindsOf(rule: number, data: boolean): readonly Kind[] {
  if (rule === 5 || rule === 6) return [KINDS[0]];
  if (rule === 8) return [KINDS[3]];
  if (rule === 9) return [KINDS[4]];
  return data ? [KINDS[2]] : [KINDS[0], KINDS[1]];
}

function pair(from: string, to: string): string {
  return JSON.stringify([from, to]);
}
