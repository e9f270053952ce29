import { shownValue } from "../base/text.js";

/** A service, a process, a host, a device and so on. Lists name other components. */
export interface TierComponent {
  /** 1 to 4 by the highest severity that it can cause; 5 and up for pre-production. */
  readonly tier: number;
  /** Default: the last of `stages`. */
  readonly stage?: string;
  /** Components whose outage causes an outage of this one. */
  readonly hard?: readonly string[];
  /** Components whose outage causes only a partial failure or a short downtime of this one. */
  readonly soft?: readonly string[];
  /** Components that it receives data from. */
  readonly receives?: readonly string[];
  /** Its parts. */
  readonly contains?: readonly string[];
  /** Services that it protects, as failover machinery or load balancer. */
  readonly protects?: readonly string[];
  /** The active and the standby component of this service. */
  readonly pair?: readonly string[];
  /** Redundant processes or hosts of this service. */
  readonly members?: readonly string[];
  /** True if a balancer moves traffic away from a failing member with no significant downtime. */
  readonly reliable?: boolean;
  /** True for the test helper service. */
  readonly testHelpers?: boolean;
  /** The highest severity that it can cause, 1 to 4, where that is known. */
  readonly causes?: number;
}

type Component = Required<Omit<TierComponent, "causes">> & {
  readonly name: string;
  readonly causes: number | undefined;
};

/** Components by name with their defaults filled in, every name known. */
export interface Graph {
  readonly stages: readonly string[];
  readonly components: ReadonlyMap<string, Component>;
}

/** A rule of section 1.3 that a component graph breaks. */
export interface TierBreach {
  /** The rule's number in section 1.3. */
  readonly rule: number;
  /** The component to change. */
  readonly component: string;
  /** What is wrong and what to do, one sentence. */
  readonly sentence: string;
}

/** A rule of section 1.3. */
export interface TierRule {
  readonly number: number;
  /** The policy's own words. */
  readonly text: string;
  /** What `review` can't see in the data; empty where it sees all of it. */
  readonly unseen: string;
}

/** Says what of a component breaks the rule: the sentence goes on after its name and tier. */
type Say = (component: string, sentence: string) => void;

interface CheckedRule extends TierRule {
  readonly check?: (graph: Graph, say: Say) => void;
}

/** The rules of section 1.3 with their checks, in the policy's order. */
export const RULES: readonly CheckedRule[] = [
  {
    number: 1,
    text: "Tier N is assigned to anything that can cause a severity N event (or a less severe one) but no event of a lower severity number. Tier 1 is anything that can cause severity 1.",
    unseen: "what a component without causes can cause, and why a tier number is low",
    check(graph, say) {
      for (const { name, tier, causes = tier } of graph.components.values()) {
        if (tier > causes) say(name, `can cause severity ${causes}: put it in tier ${causes}`);
      }
    },
  },
  {
    number: 2,
    text: "A low tier number marks a liability, not importance.",
    unseen: "all of it",
  },
  {
    number: 3,
    text: "Pre-production stages have tier >= 5.",
    unseen: "",
    check({ components, stages }, say) {
      for (const { name, tier, stage } of components.values()) {
        if (stage === stages.at(-1) || tier >= 5) continue;
        say(name, `is at the pre-production stage ${shownValue(stage)}: put it in tier 5 or above`);
      }
    },
  },
  {
    number: 4,
    text: "A component is a service, a process, a host, a device and so on, and may contain other components.",
    unseen: "whether all components and their parts are named",
  },
  {
    number: 5,
    text: "Component A hard-depends on B when an outage of B causes an outage of A. It soft-depends on B when an outage of B causes only a subsystem failure, an ancillary-feature failure or a short downtime.",
    unseen: "whether an outage of one really causes an outage of the other",
    check(graph, say) {
      for (const { name, hard, soft } of graph.components.values()) {
        for (const other of hard.filter((each) => soft.includes(each))) {
          say(name, `depends on ${shownValue(other)} both hard and soft: keep one of the two`);
        }
      }
    },
  },
  {
    number: 6,
    text: "A component may hard-depend only on components of the same or a lower tier number. A component found to hard-depend on a lower-numbered tier is reclassified at once to that tier.",
    unseen: "dependencies that nobody named",
    check(graph, say) {
      for (const { name, tier, stage, hard } of graph.components.values()) {
        for (const other of hard.filter((each) => tierOf(graph, each) > tier)) {
          const remedy = `put ${shownValue(other)} in tier ${tier}, or make the dependency soft`;
          say(name, `hard-depends on ${named(graph, other)}, a higher tier number: ${remedy}`);
        }
        const path = lowestPath(graph, name);
        const end = path.at(-1) ?? name;
        if (end === name) continue;
        const by = path.slice(1, -1).map((each) => shownValue(each));
        const way = by.length > 0 ? ` by way of ${by.join(", ")}` : "";
        const lowest = tierOf(graph, end);
        // Rule 3 keeps a pre-production component out of a tier that rule 6 would put it in.
        const remedy =
          stage === graph.stages.at(-1) || lowest >= 5
            ? `reclassify ${shownValue(name)} to tier ${lowest} at once`
            : `make a dependency soft, or use a copy at ${shownValue(stage)}, as rule 3 keeps ${shownValue(name)} from tier ${lowest}`;
        say(name, `hard-depends on ${named(graph, end)}${way}: ${remedy}`);
      }
    },
  },
  {
    number: 7,
    text: "A component at a higher stage (for example production) must not depend on, or receive data from, a lower stage. The reverse is allowed.",
    unseen: "dependencies and ways of data that nobody named",
    check({ components, stages }, say) {
      for (const { name, stage, hard, soft, receives } of components.values()) {
        for (const [others, verb] of [
          [hard, "hard-depends on"],
          [soft, "soft-depends on"],
          [receives, "receives data from"],
        ] as const) {
          for (const other of others) {
            const lower = components.get(other)?.stage ?? "";
            if (stages.indexOf(lower) >= stages.indexOf(stage)) continue;
            say(
              name,
              `at the stage ${shownValue(stage)} ${verb} ${shownValue(other)} at the lower stage ${shownValue(lower)}: use a component at ${shownValue(stage)} or above`,
            );
          }
        }
      }
    },
  },
  {
    number: 8,
    text: "Failover machinery is in the same tier (or a lower number) as the service it protects. Both members of an active/standby pair share the tier of the service.",
    unseen: "",
    check(graph, say) {
      for (const { name, tier, protects, pair } of graph.components.values()) {
        for (const service of protects.filter((each) => tierOf(graph, each) < tier)) {
          const least = tierOf(graph, service);
          say(name, `protects ${named(graph, service)}: put it in tier ${least} or lower`);
        }
        for (const member of pair.filter((each) => tierOf(graph, each) !== tier)) {
          say(
            member,
            `of an active/standby pair doesn't share the tier of its service ${named(graph, name)}: put both in the same tier`,
          );
        }
      }
    },
  },
  {
    number: 9,
    text: "Redundant components: the test helper service as a whole is at least tier 2. Its individual processes and VMs may be tier 3 or 4 if a load balancer reliably moves traffic away from a failing host with no significant downtime.",
    unseen: "whether a balancer is as reliable as the data says",
    check(graph, say) {
      const components = [...graph.components.values()];
      for (const { name, tier, members, reliable, testHelpers } of components) {
        if (testHelpers && tier > 2) {
          say(name, "is the test helper service, at least tier 2 as a whole: put it in tier 2");
        }
        const least = Math.max(2, tier);
        const isGuarded = reliable && components.some(({ protects }) => protects.includes(name));
        for (const member of members.filter((each) => tierOf(graph, each) > least)) {
          const of = `is a member of ${named(graph, name)}`;
          if (tierOf(graph, member) > Math.max(4, tier)) {
            say(member, `${of}: put it in tier ${isGuarded ? "3 or 4" : least}`);
          } else if (!isGuarded) {
            say(
              member,
              `${of} without a reliable balancer: put it in tier ${least}, or name the balancer (protects: [${shownValue(name)}]) and write reliable: true`,
            );
          }
        }
      }
    },
  },
];

/** The rules that a graph breaks, by rule, then by component. */
export function breachesOf(graph: Graph): TierBreach[] {
  return RULES.flatMap(({ number, check }) => {
    const found: TierBreach[] = [];
    check?.(graph, (component, sentence) =>
      found.push({ rule: number, component, sentence: `${named(graph, component)} ${sentence}.` }),
    );
    return found.sort((a, b) =>
      a.component < b.component ? -1 : Number(a.component > b.component),
    );
  });
}

/** What section 1.4 demands of a component. */
export interface TierDemands {
  readonly architectureReview: boolean;
  readonly codeReview: boolean;
  /** The third-party security review. */
  readonly securityReview: boolean;
  readonly changeManagement: boolean;
}

/** The table of section 1.4. */
export const DEMANDS: readonly TierDemands[] = (
  [
    [true, true, true, true],
    [true, true, false, false],
    [false, true, false, false],
    [false, false, false, false],
  ] as const
).map(([architectureReview, codeReview, securityReview, changeManagement]) =>
  Object.freeze({ architectureReview, codeReview, securityReview, changeManagement }),
);

function tierOf({ components }: Graph, name: string): number {
  return components.get(name)?.tier ?? NaN;
}

/** `"api" (tier 2)` */
function named(graph: Graph, name: string): string {
  return `${shownValue(name)} (tier ${tierOf(graph, name)})`;
}

/** The shortest path of hard dependencies to the lowest tier number; the name alone if that is its own. */
function lowestPath(graph: Graph, name: string): string[] {
  const before = new Map([[name, ""]]);
  let lowest = name;
  // A Map visits what is added while it is walked, so this is a search by breadth.
  for (const [at] of before) {
    if (tierOf(graph, at) < tierOf(graph, lowest)) lowest = at;
    for (const other of graph.components.get(at)?.hard ?? []) {
      if (!before.has(other)) before.set(other, at);
    }
  }
  const path = [lowest];
  while (path[0] !== name) path.unshift(before.get(path[0] ?? "") ?? name);
  return path;
}
