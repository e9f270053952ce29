import { shown } from "../shown.js";
import { named, tierIn, type Situation, type Violation } from "./violation.js";

/** Rule 5: a dependency is hard or soft. One that is written as both counts as hard. */
export function dependencyViolations({ graph }: Situation): Violation[] {
  return [...graph.components.values()].flatMap(({ name, hard, soft }) =>
    soft
      .filter((on) => hard.includes(on))
      .map((on) => ({
        rule: 5,
        component: name,
        path: [name, on],
        message: `${shown(name)} depends on ${shown(on)} both hard and soft.`,
        remedy: `Keep it under hard where an outage of ${shown(on)} causes one of ${shown(name)}, else under soft.`,
      })),
  );
}

/** Rule 6, first sentence: hard dependencies only on the same or a lower tier number. */
export function hardDependencyViolations(situation: Situation): Violation[] {
  return [...situation.graph.components.values()].flatMap(({ name, hard }) => {
    const tier = tierIn(situation, name);
    return hard
      .filter((on) => tierIn(situation, on) > tier)
      .map((on) => ({
        rule: 6,
        component: name,
        path: [name, on],
        message: `${named(situation, name)} hard-depends on ${named(situation, on)}, a higher tier number.`,
        remedy: `Put ${shown(on)} in tier ${tier}, as its outage is one of ${shown(name)} (rule 5), or make the dependency soft.`,
      }));
  });
}
