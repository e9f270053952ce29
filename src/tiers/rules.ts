import { shownValue } from "../base/text.js";
import type { Graph, Relation } from "./graph.js";
import { stepsOf, type Reclassified, type Spread, type TierNumbers } from "./reclassify.js";

/** A rule of section 1.3, and how far a file of components can show whether it is kept. */
export interface TierRule {
  readonly number: number;
  readonly name: string;
  /** What `check` looks at; empty where it is nothing. */
  readonly checked: string;
  /** What the data can't show; empty where it is nothing. */
  readonly unchecked: string;
}

/** The rules of section 1.3, in their order. */
export const TIER_RULES: readonly TierRule[] = Object.freeze(
  (
    [
      [
        "Tier by severity",
        "The tier against the severity that a component is said to cause, itself or by the components that its outage takes down.",
        "Whether it can cause that severity; a component that says nothing under causes.",
      ],
      ["A liability, not importance", "", "What the team takes a low number for."],
      ["Pre-production from tier 5", "The tier of every component below the last stage.", ""],
      [
        "Components contain others",
        "That no component contains itself. The policy ties no tier to it.",
        "Whether the parts are all named.",
      ],
      [
        "Hard or soft",
        "That no dependency is both.",
        "Whether an outage of one really causes an outage of the other.",
      ],
      [
        "Hard dependencies",
        "Each hard dependency, by the tiers as written and as reclassified.",
        "Dependencies that the file doesn't name.",
      ],
      [
        "Stages",
        "Each hard and soft dependency, and all data received, against the order of the stages.",
        "Ways of data that the file doesn't name.",
      ],
      [
        "Failover",
        "Failover machinery, balancers and both members of each pair against their service.",
        "",
      ],
      [
        "Redundancy",
        "The test helper service's tier, and that members above it stand behind a balancer.",
        "Whether the balancer is as reliable as the file says.",
      ],
    ] as const
  ).map(([name, checked, unchecked], at) =>
    Object.freeze({ number: at + 1, name, checked, unchecked }),
  ),
);

/** A rule broken by one state of the tiers. */
export interface Violation {
  /** 1 to 9. */
  readonly rule: number;
  /** The component that breaks it. */
  readonly component: string;
  /** The path that breaks it, the component among its ends. */
  readonly path: readonly string[];
  /** How the two of the path belong together; null where the rule is about the component alone. */
  readonly relation: Relation | null;
  /** What is wrong, a sentence. */
  readonly message: string;
  /** What to do, a sentence. */
  readonly remedy: string;
}

/** What the rules look at. */
export interface Situation {
  readonly graph: Graph;
  /** As written, or as reclassified. */
  readonly tiers: TierNumbers;
  /** The severity that an outage of each component can cause. */
  readonly caused: ReadonlyMap<string, Spread>;
  /** For each component those that hard-depend on it. */
  readonly dependents: ReadonlyMap<string, readonly string[]>;
  /** What was reclassified to reach `tiers`. */
  readonly reclassified: ReadonlyMap<string, Reclassified>;
}

/** Everything that a situation breaks, rule by rule. */
export function violationsOf(situation: Situation): Violation[] {
  const { graph, tiers, caused, reclassified } = situation;
  const components = [...graph.components.values()];
  const production = graph.stages.at(-1);
  const found: Violation[] = [];
  const broken = (
    what: Pick<Violation, "rule" | "component" | "path" | "relation">,
    message: string,
    remedy: string,
  ): void => void found.push({ ...what, message, remedy });
  const tier = (name: string): number => tiers.get(name) ?? NaN;
  /** `"api" (tier 2)`, or `"api" (tier 3, reclassified to 2)`. */
  const named = (name: string): string => {
    const changed = reclassified.get(name);
    return changed === undefined
      ? `${shownValue(name)} (tier ${tier(name)})`
      : `${shownValue(name)} (tier ${changed.from}, reclassified to ${changed.to})`;
  };

  // 1. Tier N can cause a severity N event, but none of a lower number. Looked at are the components
  // that tell what they can cause, and those whose outage takes such a one down.
  for (const { name, causes } of components) {
    const least = caused.get(name)?.value ?? Infinity;
    if (tier(name) > least) {
      const path = [name, ...stepsOf(caused, name).map(({ to }) => to)].reverse();
      const [first = name] = path;
      const own = path.length === 1;
      const how = own ? "it" : `its outage is one of ${shownValue(first)}, which`;
      const or = own ? "correct causes" : "make a dependency on the path soft";
      const message = `${named(name)}: ${how} can cause severity ${least}.`;
      broken(
        { rule: 1, component: name, path, relation: null },
        message,
        `Put ${shownValue(name)} in tier ${least}, or ${or}.`,
      );
    } else if (causes !== null && tier(name) < causes && !isAskedFor(situation, name)) {
      broken(
        { rule: 1, component: name, path: [name], relation: null },
        `${named(name)} is said to cause severity ${causes} at most, and nothing else asks for tier ${tier(name)}.`,
        `Put ${shownValue(name)} in tier ${causes}, or correct causes.`,
      );
    }
  }

  // 3. Pre-production stages, all but the last, have tier 5 and up.
  for (const { name, stage } of components) {
    if (stage === production || tier(name) >= 5) continue;
    const because = reclassified.get(name)?.because;
    broken(
      { rule: 3, component: name, path: because ?? [name], relation: null },
      `${named(name)} is at the pre-production stage ${shownValue(stage)}, which has tier 5 and up.`,
      because === undefined
        ? `Put ${shownValue(name)} in tier 5, or at the stage ${shownValue(production)}.`
        : because.length === 1
          ? `Keep ${shownValue(name)} from causing what it is said to cause.`
          : `Make a dependency on the path soft, or let ${shownValue(name)} use a copy at ${shownValue(stage)}.`,
    );
  }

  for (const { name, hard, soft } of components) {
    for (const on of hard) {
      // 5. A dependency is hard or soft. One that is written as both counts as hard.
      if (soft.includes(on)) {
        broken(
          { rule: 5, component: name, path: [name, on], relation: "hard" },
          `${shownValue(name)} depends on ${shownValue(on)} both hard and soft.`,
          `Keep it under hard where an outage of ${shownValue(on)} causes one of ${shownValue(name)}, else under soft.`,
        );
      }
      // 6, first sentence. Hard dependencies only on the same or a lower tier number.
      if (tier(on) > tier(name)) {
        broken(
          { rule: 6, component: name, path: [name, on], relation: "hard" },
          `${named(name)} hard-depends on ${named(on)}, a higher tier number.`,
          `Put ${shownValue(on)} in tier ${tier(name)}, as its outage is one of ${shownValue(name)} (rule 5), or make the dependency soft.`,
        );
      }
    }
  }

  // 7. No component depends on, or receives data from, a lower stage; the reverse is allowed.
  const stageOf = (name: string): string => graph.components.get(name)?.stage ?? "";
  for (const { name, stage, ...component } of components) {
    for (const [field, relation, verb] of DEPENDENCIES) {
      for (const on of component[field]) {
        const other = stageOf(on);
        if (graph.stages.indexOf(other) >= graph.stages.indexOf(stage)) continue;
        broken(
          { rule: 7, component: name, path: [name, on], relation },
          `${shownValue(name)} at the stage ${shownValue(stage)} ${verb} ${shownValue(on)} at the lower stage ${shownValue(other)}.`,
          `Let ${shownValue(name)} use a component at ${shownValue(stage)} or above instead.`,
        );
      }
    }
  }

  // 8. Failover machinery and balancers have no number above their service's, both members of a pair
  // the same.
  for (const { machinery, protects } of graph.failover) {
    if (tier(machinery) <= tier(protects)) continue;
    broken(
      { rule: 8, component: machinery, path: [machinery, protects], relation: "failover or pair" },
      `${named(machinery)} protects ${named(protects)}, which has a lower tier number.`,
      `Put ${shownValue(machinery)} in tier ${tier(protects)} or lower.`,
    );
  }
  for (const { service, ...members } of graph.pairs) {
    for (const role of ["active", "standby"] as const) {
      const member = members[role];
      const [own, shared] = [tier(member), tier(service)];
      if (own === shared) continue;
      broken(
        { rule: 8, component: member, path: [member, service], relation: "failover or pair" },
        `${named(member)}, the ${role} of a pair, doesn't share the tier of its service ${named(service)}.`,
        own > shared
          ? `Put ${shownValue(member)} in tier ${shared}.`
          : `Put ${shownValue(service)} and both members in tier ${own}, or take away what puts ${shownValue(member)} there.`,
      );
    }
  }

  // 9. The test helper service as a whole is at least tier 2; members of a redundant service may be
  // in tier 3 or 4, above it, only behind a balancer that reliably moves traffic away.
  for (const { service, members, balancer, reliable, testHelpers } of graph.redundancy) {
    const whole = tier(service);
    const least = Math.max(2, whole);
    const guarded = balancer !== null && reliable;
    if (testHelpers && whole > 2) {
      broken(
        { rule: 9, component: service, path: [service], relation: null },
        `${named(service)} is the test helper service, which is at least tier 2 as a whole.`,
        `Put ${shownValue(service)} in tier 2.`,
      );
    }
    for (const member of members) {
      const of = `${named(member)} is a member of ${named(service)}`;
      if (tier(member) > Math.max(4, whole)) {
        broken(
          { rule: 9, component: member, path: [service, member], relation: "part or member" },
          `${of}; members may be in tier 4 at most.`,
          `Put ${shownValue(member)} in tier ${guarded ? "3 or 4" : least}.`,
        );
      } else if (tier(member) > least && !guarded) {
        const lacks =
          balancer === null ? "no balancer" : `${shownValue(balancer)}, not said to be reliable,`;
        broken(
          { rule: 9, component: member, path: [service, member], relation: "part or member" },
          `${of}, and ${lacks} moves traffic away from it when it fails.`,
          `Put ${shownValue(member)} in tier ${least}, or write ${balancer === null ? "the balancer and " : ""}reliable: true if no significant downtime follows.`,
        );
      }
    }
  }
  return found;
}

const DEPENDENCIES = [
  ["hard", "hard", "hard-depends on"],
  ["soft", "soft", "soft-depends on"],
  ["receives", "data", "receives data from"],
] as const;

/** Whether another component or rule asks for a tier number as low as this. */
function isAskedFor({ graph, tiers, caused, dependents }: Situation, name: string): boolean {
  const tier = tiers.get(name) ?? NaN;
  const neighbours = [
    ...(graph.components.get(name)?.hard ?? []),
    ...(dependents.get(name) ?? []),
    ...graph.pairs
      .filter(({ active, standby }) => active === name || standby === name)
      .map(({ service }) => service),
  ];
  return (
    (caused.get(name)?.value ?? Infinity) <= tier ||
    neighbours.some((each) => (tiers.get(each) ?? NaN) <= tier) ||
    // Rule 8 allows a lower number to failover machinery, rule 9 to the test helper service.
    graph.failover.some(({ machinery }) => machinery === name) ||
    graph.redundancy.some(({ service, testHelpers }) => testHelpers && service === name)
  );
}
