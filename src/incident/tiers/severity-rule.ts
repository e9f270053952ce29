import { shown } from "../shown.js";
import { failoverOf } from "./graph.js";
import { stepsOf } from "./spread.js";
import { named, tierIn, type Situation, type Violation } from "./violation.js";

/**
 * Rule 1: tier N can cause a severity N event, but none of a lower number. Looked at are the
 * components that tell what they can cause, and those whose outage takes such a one down.
 */
export function severityViolations(situation: Situation): Violation[] {
  return [...situation.graph.components.values()].flatMap(({ name, causes }) => {
    const tier = tierIn(situation, name);
    const caused = situation.caused.get(name);
    if (caused !== undefined && tier > caused.value) {
      const path = [name, ...stepsOf(situation.caused, name).map(({ to }) => to)].reverse();
      const [first = name] = path;
      const how = path.length === 1 ? "it" : `its outage is one of ${shown(first)}, which`;
      const or = path.length === 1 ? "correct causes" : "make a dependency on the path soft";
      return [
        {
          rule: 1,
          component: name,
          path,
          message: `${named(situation, name)}: ${how} can cause severity ${caused.value}.`,
          remedy: `Put ${shown(name)} in tier ${caused.value}, or ${or}.`,
        },
      ];
    }
    if (causes === null || tier >= causes || explained(situation, name)) return [];
    return [
      {
        rule: 1,
        component: name,
        path: [name],
        message: `${named(situation, name)} is said to cause severity ${causes} at most, and nothing else asks for tier ${tier}.`,
        remedy: `Put ${shown(name)} in tier ${causes}, or correct causes.`,
      },
    ];
  });
}

/** Whether another component or rule asks for a tier number as low as this. */
function explained(situation: Situation, name: string): boolean {
  const { graph, dependents, caused } = situation;
  const tier = tierIn(situation, name);
  const neighbours = [
    ...(graph.components.get(name)?.hard ?? []),
    ...(dependents.get(name) ?? []),
    ...graph.pairs
      .filter(({ active, standby }) => active === name || standby === name)
      .map(({ service }) => service),
  ];
  return (
    (caused.get(name)?.value ?? Infinity) <= tier ||
    neighbours.some((each) => tierIn(situation, each) <= tier) ||
    // Rule 8 allows a lower number to failover machinery, rule 9 to the test helper service.
    failoverOf(graph).some(({ machinery }) => machinery === name) ||
    graph.redundancy.some(({ service, testHelpers }) => testHelpers && service === name)
  );
}
