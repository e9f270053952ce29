import { shown } from "../shown.js";
import { componentOf } from "./graph.js";
import { named, tierIn, type Situation, type Violation } from "./violation.js";

/** Rule 3: pre-production stages, all but the last, have tier 5 and up. */
export function preProductionViolations(situation: Situation): Violation[] {
  const { components, stages } = situation.graph;
  return [...components.values()]
    .filter(({ name, stage }) => stage !== stages.at(-1) && tierIn(situation, name) < 5)
    .map(({ name, stage }) => {
      const change = situation.reclassified.get(name);
      return {
        rule: 3,
        component: name,
        path: change?.because ?? [name],
        message: `${named(situation, name)} is at the pre-production stage ${shown(stage)}, which has tier 5 and up.`,
        remedy:
          change === undefined
            ? `Put ${shown(name)} in tier 5, or at the stage ${shown(stages.at(-1))}.`
            : change.because.length === 1
              ? `Keep ${shown(name)} from causing what it is said to cause.`
              : `Make a dependency on the path soft, or let ${shown(name)} use a copy at ${shown(stage)}.`,
      };
    });
}

/** Rule 7: no component depends on, or receives data from, a lower stage; the reverse is allowed. */
export function stageViolations(situation: Situation): Violation[] {
  const { graph } = situation;
  const height = new Map(graph.stages.map((stage, at) => [stage, at]));
  const heightOf = (name: string): number => height.get(componentOf(graph, name).stage) ?? 0;
  const ways = [
    ["hard", "hard-depends on"],
    ["soft", "soft-depends on"],
    ["receives", "receives data from"],
  ] as const;
  return [...graph.components.values()].flatMap((component) =>
    ways.flatMap(([relation, verb]) =>
      component[relation]
        .filter((on) => heightOf(on) < heightOf(component.name))
        .map((on) => ({
          rule: 7,
          component: component.name,
          path: [component.name, on],
          message: `${shown(component.name)} at the stage ${shown(component.stage)} ${verb} ${shown(on)} at the lower stage ${shown(componentOf(graph, on).stage)}.`,
          remedy: `Let ${shown(component.name)} use a component at ${shown(component.stage)} or above instead.`,
        })),
    ),
  );
}
