import { inspect } from "node:util";
import { checkOptions, isPlain, type Rule, type Rules } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { counted, shownValue } from "../base/text.js";

/** A service, a process, a host, a device and so on. Lists name other components. */
export interface TierComponent {
  /** 1 to 4 by the highest severity that it can cause; 5 and up for pre-production. */
  readonly tier: number;
  /** @default the last of `stages` */
  readonly stage?: string;
  /** Components whose outage causes an outage of this one. */
  readonly hard?: readonly string[];
  /** Components whose outage causes only a partial failure or a short downtime of this one. */
  readonly soft?: readonly string[];
  /** Components that it receives data from. */
  readonly receives?: readonly string[];
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

/** Components by name. */
export interface TierOptions {
  readonly components: Readonly<Record<string, TierComponent>>;
  /** From the lowest to the highest. @default `["staging", "production"]` */
  readonly stages?: readonly string[];
}

const isName = (value: unknown): value is string => typeof value === "string" && value !== "";
const areNames = (value: unknown): value is string[] => Array.isArray(value) && value.every(isName);
const hasTwice = (texts: readonly string[]): boolean => new Set(texts).size < texts.length;
const isWhole = (value: unknown, most: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most;

const NAMES: Rule = { fits: areNames, pass: "a list of components' names" };
const TRUTH: Rule = { fits: (value) => typeof value === "boolean", pass: "true or false" };

const OPTIONS: Rules<TierOptions> = {
  components: { fits: isPlain, pass: "an object, { api: { tier: 2 } }" },
  stages: {
    fits: (value) => areNames(value) && !hasTwice(value),
    pass: "different names from the lowest to the highest, such as staging and production",
  },
};

/** What a component names other components in. */
const LISTS = ["hard", "soft", "receives", "protects", "pair", "members"] as const;

const COMPONENT = {
  tier: {
    fits: (value) => isWhole(value, 1_000),
    pass: "1 to 4 by the highest severity that it can cause, 5 and up for pre-production",
  },
  stage: { fits: isName, pass: "one of the stages" },
  hard: NAMES,
  soft: NAMES,
  receives: NAMES,
  protects: NAMES,
  members: NAMES,
  pair: {
    fits: (value) => areNames(value) && value.length === 2,
    pass: "the names of the active and the standby component",
  },
  reliable: TRUTH,
  testHelpers: TRUTH,
  causes: { fits: (value) => isWhole(value, 4), pass: "the highest severity, 1 to 4" },
} satisfies Rules<TierComponent>;

/** A component with its defaults filled in. */
type Component = Required<Omit<TierComponent, "causes">> & {
  readonly name: string;
  readonly causes: number | undefined;
};

/** A rule of section 1.3 that a component breaks. */
export interface TierBreach {
  /** The rule's number in section 1.3. */
  readonly rule: number;
  /** The component to change. */
  readonly component: string;
  /** One sentence: what is wrong and how to fix it. */
  readonly sentence: string;
}

/** A review of a component graph against section 1.3 of the policy. */
export class TierReview {
  constructor(
    /** How many components were reviewed. */
    readonly components: number,
    /** The rules that the tiers as written break, by rule, then by component. */
    readonly breaches: readonly TierBreach[],
  ) {}

  /** The review, one line a breach. */
  toString(): string {
    const rules = new Set(this.breaches.map(({ rule }) => rule)).size;
    const found =
      rules === 0
        ? "no rule broken that the data shows"
        : `${counted(rules, "rule")} broken in ${counted(this.breaches.length, "place")}`;
    return [
      `${counted(this.components, "component")}, ${found}`,
      ...this.breaches.map(({ rule, sentence }) => `  Rule ${rule}: ${sentence}`),
    ].join("\n");
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/** What a rule sees beside a component. */
interface Graph {
  /** Components by their names, which are all known. */
  readonly of: (names: readonly string[]) => Component[];
  /** The place of a stage from the lowest, and whether it is the last, production. */
  readonly rank: (component: Component) => number;
  readonly isProduction: (component: Component) => boolean;
  /** True if failover machinery or a balancer protects a service. */
  readonly isProtected: (service: Component) => boolean;
}

/** What breaks a rule: a component, and its sentence after its name and tier. */
type Breach = readonly [component: Component, sentence: string];

/** `"api" (tier 2)` */
function named({ name, tier }: Component): string {
  return `${shownValue(name)} (tier ${tier})`;
}

/** The policy's words, in its order, and what finds the breaches of a component; some rules only define. */
const RULES: readonly (readonly [
  text: string,
  check?: (component: Component, graph: Graph) => Iterable<Breach>,
])[] = [
  [
    "Tier N is assigned to anything that can cause a severity N event (or a less severe one) but no event of a lower severity number. Tier 1 is anything that can cause severity 1.",
    function* (one) {
      const { tier, causes = tier } = one;
      if (tier > causes) yield [one, `can cause severity ${causes}: put it in tier ${causes}`];
    },
  ],
  ["A low tier number marks a liability, not importance."],
  [
    "Pre-production stages have tier >= 5.",
    function* (one, { isProduction }) {
      if (isProduction(one) || one.tier >= 5) return;
      const stage = shownValue(one.stage);
      yield [one, `is at the pre-production stage ${stage}: put it in tier 5 or above`];
    },
  ],
  [
    "A component is a service, a process, a host, a device and so on, and may contain other components.",
  ],
  [
    "Component A hard-depends on B when an outage of B causes an outage of A. It soft-depends on B when an outage of B causes only a subsystem failure, an ancillary-feature failure or a short downtime.",
  ],
  [
    "A component may hard-depend only on components of the same or a lower tier number. A component found to hard-depend on a lower-numbered tier is reclassified at once to that tier.",
    function* (one, { of, isProduction }) {
      const { tier } = one;
      for (const other of of(one.hard)) {
        if (other.tier <= tier) continue;
        const remedy = `put ${shownValue(other.name)} in tier ${tier}, or make the dependency soft`;
        yield [one, `hard-depends on ${named(other)}, a higher tier number: ${remedy}`];
      }
      const [lowest] = of(one.hard).sort((a, b) => a.tier - b.tier);
      if (lowest === undefined || lowest.tier >= tier) return;
      const name = shownValue(one.name);
      // Rule 3 keeps a pre-production component out of a tier that this rule would put it in.
      const remedy =
        isProduction(one) || lowest.tier >= 5
          ? `reclassify ${name} to tier ${lowest.tier} at once`
          : `make the dependency soft, or use a copy at ${shownValue(one.stage)}, as rule 3 keeps ${name} from tier ${lowest.tier}`;
      yield [one, `hard-depends on ${named(lowest)}: ${remedy}`];
    },
  ],
  [
    "A component at a higher stage (for example production) must not depend on, or receive data from, a lower stage. The reverse is allowed.",
    function* (one, { of, rank }) {
      const stage = shownValue(one.stage);
      for (const [verb, others] of [
        ["hard-depends on", one.hard],
        ["soft-depends on", one.soft],
        ["receives data from", one.receives],
      ] as const) {
        for (const other of of(others).filter((each) => rank(each) < rank(one))) {
          const what = `${shownValue(other.name)} at the lower stage ${shownValue(other.stage)}`;
          const remedy = `use a component at ${stage} or above`;
          yield [one, `at the stage ${stage} ${verb} ${what}: ${remedy}`];
        }
      }
    },
  ],
  [
    "Failover machinery is in the same tier (or a lower number) as the service it protects. Both members of an active/standby pair share the tier of the service.",
    function* (one, { of }) {
      for (const service of of(one.protects).filter(({ tier }) => tier < one.tier)) {
        yield [one, `protects ${named(service)}: put it in tier ${service.tier} or lower`];
      }
      for (const member of of(one.pair).filter(({ tier }) => tier !== one.tier)) {
        yield [
          member,
          `of an active/standby pair doesn't share the tier of its service ${named(one)}: put both in the same tier`,
        ];
      }
    },
  ],
  [
    "Redundant components: the test helper service as a whole is at least tier 2. Its individual processes and VMs may be tier 3 or 4 if a load balancer reliably moves traffic away from a failing host with no significant downtime.",
    function* (one, { of, isProtected }) {
      const { tier, testHelpers, reliable } = one;
      if (testHelpers && tier > 2) {
        yield [one, "is the test helper service, at least tier 2 as a whole: put it in tier 2"];
      }
      const least = Math.max(2, tier);
      const isGuarded = reliable && isProtected(one);
      for (const member of of(one.members).filter((each) => each.tier > least)) {
        const what = `is a member of ${named(one)}`;
        if (member.tier > Math.max(4, tier)) {
          yield [member, `${what}: put it in tier ${isGuarded ? "3 or 4" : least}`];
        } else if (!isGuarded) {
          const remedy = `put it in tier ${least}, or name the balancer (protects: [${shownValue(one.name)}]) and write reliable: true`;
          yield [member, `${what} without a reliable balancer: ${remedy}`];
        }
      }
    },
  ],
];

/** The table of section 1.4: each tier demands what the higher tier numbers do. */
function demandsOf(tier: number) {
  if (![1, 2, 3, 4].includes(tier)) return null;
  return {
    architectureReview: tier <= 2,
    codeReview: tier <= 3,
    /** By a third party. */
    securityReview: tier === 1,
    changeManagement: tier === 1,
  };
}

/**
 * Reviews a component graph against the operations policy (1.3): see docs/incidents.md. Data in
 * YAML or JSON is parsed first: `tiers(JSON.parse(text))`.
 *
 * @throws ProbelabError for a missing tier, a name or stage that isn't there, an option that isn't known.
 * @example
 * tiers({ components: { api: { tier: 2, hard: ["database"] }, database: { tier: 1 } } });
 */
function reviewTiers(options: TierOptions): TierReview {
  checkOptions(options ?? null, OPTIONS, "review tiers");
  const { components, stages = ["staging", "production"] } = options;
  if (components === undefined) {
    throw new ProbelabError(
      "Can't review tiers without components: pass { components: { api: { tier: 2 } } }.",
    );
  }
  const all = Object.entries(components).map(([name, component]): Component => {
    const action = `review the component ${shownValue(name)}`;
    checkOptions(component ?? null, COMPONENT, action);
    const { tier, stage = stages.at(-1) ?? "", causes, ...rest } = component;
    if (tier === undefined) {
      throw new ProbelabError(`Can't ${action} without a tier: pass ${COMPONENT.tier.pass}.`);
    }
    if (!stages.includes(stage)) {
      throw new ProbelabError(
        `Can't ${action} at the stage ${shownValue(stage)}: pass one of ${stages.map((each) => shownValue(each)).join(", ")}.`,
      );
    }
    const none = { hard: [], soft: [], receives: [], protects: [], pair: [], members: [] };
    const filled = { ...none, reliable: false, testHelpers: false, ...rest };
    for (const list of LISTS) {
      const unknown = filled[list].find((each) => !Object.hasOwn(components, each));
      if (unknown === undefined) continue;
      const near = nearName(unknown, Object.keys(components));
      throw new ProbelabError(
        `Can't ${action}: ${list} names ${shownValue(unknown)}, which is no component. ${near === undefined ? "Add it to components." : `Did you mean ${shownValue(near)}?`}`,
      );
    }
    return { ...filled, name, tier, stage, causes };
  });
  const byName = new Map(all.map((each) => [each.name, each]));
  const rank = ({ stage }: Component) => stages.indexOf(stage);
  const graph: Graph = {
    of: (names) => names.map((name) => byName.get(name)!),
    rank,
    isProduction: (component) => rank(component) === stages.length - 1,
    isProtected: ({ name }) => all.some(({ protects }) => protects.includes(name)),
  };
  const breaches = RULES.flatMap(([, check], at) =>
    all
      .flatMap((each) => [...(check?.(each, graph) ?? [])])
      .map(([component, sentence]) => ({
        rule: at + 1,
        component: component.name,
        sentence: `${named(component)} ${sentence}.`,
      }))
      .sort((a, b) => (a.component < b.component ? -1 : Number(a.component > b.component))),
  );
  return new TierReview(all.length, breaches);
}

export const tiers = Object.assign(reviewTiers, {
  /** The rules of section 1.3 in the policy's words. */
  rules: RULES.map(([text], at) => ({ number: at + 1, text })),
  /**
   * What section 1.4 demands of a tier, 1 to 4; null from 5.
   *
   * @example
   * tiers.demands(2).architectureReview; // true
   */
  demands: demandsOf,
});
