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

/** The name of a rule by its number. */
export function ruleName(number: number): string {
  return TIER_RULES[number - 1]?.name ?? "";
}
