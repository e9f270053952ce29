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
const isWhole = (value: unknown, most: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most;

const NAMES: Rule = { fits: areNames, pass: "a list of components' names" };
const TRUTH: Rule = { fits: (value) => typeof value === "boolean", pass: "true or false" };

const OPTIONS: Rules<TierOptions> = {
  components: { fits: isPlain, pass: "an object, { api: { tier: 2 } }" },
  stages: {
    fits: (value) => areNames(value) && new Set(value).size === value.length,
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

/** A component that is read: `rank` is the place of its stage from the lowest, `given` what was written. */
interface Component extends Required<Pick<TierComponent, "tier" | "stage">> {
  readonly name: string;
  readonly rank: number;
  readonly isProduction: boolean;
  readonly given: TierComponent;
}

/** A rule of section 1.3 that a component breaks. */
export interface TierBreach {
  readonly rule: number;
  /** The component to change. */
  readonly component: string;
  /** One sentence: what is wrong and how to fix it. */
  readonly sentence: string;
}

/** A review: how many components, and the rules that their tiers break, by rule, then by component. */
export class TierReview {
  constructor(
    readonly components: number,
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

/** The policy's words, in its order. */
const RULES = [
  "Tier N is assigned to anything that can cause a severity N event (or a less severe one) but no event of a lower severity number. Tier 1 is anything that can cause severity 1.",
  "A low tier number marks a liability, not importance.",
  "Pre-production stages have tier >= 5.",
  "A component is a service, a process, a host, a device and so on, and may contain other components.",
  "Component A hard-depends on B when an outage of B causes an outage of A. It soft-depends on B when an outage of B causes only a subsystem failure, an ancillary-feature failure or a short downtime.",
  "A component may hard-depend only on components of the same or a lower tier number. A component found to hard-depend on a lower-numbered tier is reclassified at once to that tier.",
  "A component at a higher stage (for example production) must not depend on, or receive data from, a lower stage. The reverse is allowed.",
  "Failover machinery is in the same tier (or a lower number) as the service it protects. Both members of an active/standby pair share the tier of the service.",
  "Redundant components: the test helper service as a whole is at least tier 2. Its individual processes and VMs may be tier 3 or 4 if a load balancer reliably moves traffic away from a failing host with no significant downtime.",
];

/** `"api" (tier 2)` */
function named({ name, tier }: Component): string {
  return `${shownValue(name)} (tier ${tier})`;
}

function breach(rule: number, component: Component, what: string): TierBreach {
  return { rule, component: component.name, sentence: `${named(component)} ${what}.` };
}

/** The rules that a component breaks; some rules only define. */
function* breachesOf(one: Component, all: ReadonlyMap<string, Component>): Iterable<TierBreach> {
  const { tier, given } = one;
  const [name, stage] = [shownValue(one.name), shownValue(one.stage)];
  const of = (names: readonly string[] = []) => names.map((each) => all.get(each)!);
  const hard = of(given.hard);

  const { causes = tier } = given;
  if (tier > causes) yield breach(1, one, `can cause severity ${causes}: put it in tier ${causes}`);

  if (!one.isProduction && tier < 5) {
    yield breach(3, one, `is at the pre-production stage ${stage}: put it in tier 5 or above`);
  }

  for (const other of hard.filter((each) => each.tier > tier)) {
    const remedy = `put ${shownValue(other.name)} in tier ${tier}, or make the dependency soft`;
    yield breach(6, one, `hard-depends on ${named(other)}, a higher tier number: ${remedy}`);
  }
  const [lowest = one] = hard.toSorted((a, b) => a.tier - b.tier);
  if (lowest.tier < tier) {
    // Rule 3 keeps a pre-production component out of a tier that this rule would put it in.
    const remedy =
      one.isProduction || lowest.tier >= 5
        ? `reclassify ${name} to tier ${lowest.tier} at once`
        : `make the dependency soft, or use a copy at ${stage}, as rule 3 keeps ${name} from tier ${lowest.tier}`;
    yield breach(6, one, `hard-depends on ${named(lowest)}: ${remedy}`);
  }

  const sources = {
    "hard-depends on": hard,
    "soft-depends on": of(given.soft),
    "receives data from": of(given.receives),
  };
  for (const [verb, others] of Object.entries(sources)) {
    for (const other of others.filter(({ rank }) => rank < one.rank)) {
      const what = `${shownValue(other.name)} at the lower stage ${shownValue(other.stage)}`;
      const remedy = `use a component at ${stage} or above`;
      yield breach(7, one, `at the stage ${stage} ${verb} ${what}: ${remedy}`);
    }
  }

  for (const service of of(given.protects).filter((each) => each.tier < tier)) {
    yield breach(8, one, `protects ${named(service)}: put it in tier ${service.tier} or lower`);
  }
  for (const member of of(given.pair).filter((each) => each.tier !== tier)) {
    const what = `doesn't share the tier of its service ${named(one)}`;
    yield breach(8, member, `of an active/standby pair ${what}: put both in the same tier`);
  }

  if (given.testHelpers && tier > 2) {
    yield breach(
      9,
      one,
      "is the test helper service, at least tier 2 as a whole: put it in tier 2",
    );
  }
  const least = Math.max(2, tier);
  const others = [...all.values()];
  const isGuarded = given.reliable && others.some((each) => of(each.given.protects).includes(one));
  for (const member of of(given.members).filter((each) => each.tier > least)) {
    const what = `is a member of ${named(one)}`;
    if (member.tier > Math.max(4, tier)) {
      yield breach(9, member, `${what}: put it in tier ${isGuarded ? "3 or 4" : least}`);
    } else if (!isGuarded) {
      const remedy = `put it in tier ${least}, or name the balancer (protects: [${name}]) and write reliable: true`;
      yield breach(9, member, `${what} without a reliable balancer: ${remedy}`);
    }
  }
}

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

/** The components as they are written, each holding those that it names. */
function readComponents(
  components: TierOptions["components"],
  stages: readonly string[],
): ReadonlyMap<string, Component> {
  const names = Object.keys(components);
  const found = new Map<string, Component>();
  const said = stages.map((each) => shownValue(each)).join(", ");
  for (const [name, given] of Object.entries(components)) {
    const action = `review the component ${shownValue(name)}`;
    const refuse = (why: string) => new ProbelabError(`Can't ${action}${why}`);
    checkOptions(given ?? null, COMPONENT, action);
    const { tier, stage = stages.at(-1) ?? "" } = given;
    if (tier === undefined) throw refuse(` without a tier: pass ${COMPONENT.tier.pass}.`);
    const rank = stages.indexOf(stage);
    if (rank < 0) throw refuse(` at the stage ${shownValue(stage)}: pass one of ${said}.`);
    for (const list of LISTS) {
      const unknown = given[list]?.find((each) => !names.includes(each));
      if (unknown === undefined) continue;
      const near = nearName(unknown, names);
      const remedy = near ? `Did you mean ${shownValue(near)}?` : "Add it to components.";
      throw refuse(`: ${list} names ${shownValue(unknown)}, which is no component. ${remedy}`);
    }
    const isProduction = rank === stages.length - 1;
    found.set(name, { name, tier, stage, rank, isProduction, given });
  }
  return found;
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
  const all = readComponents(components, stages);
  const breaches = [...all.values()].flatMap((each) => [...breachesOf(each, all)]);
  const byName = (a: string, b: string) => Number(a > b) - Number(a < b);
  breaches.sort((a, b) => a.rule - b.rule || byName(a.component, b.component));
  return new TierReview(all.size, breaches);
}

export const tiers = Object.assign(reviewTiers, {
  /** The rules of section 1.3 in the policy's words. */
  rules: RULES.map((text, at) => ({ number: at + 1, text })),
  /**
   * What section 1.4 demands of a tier, 1 to 4; null from 5.
   *
   * @example
   * tiers.demands(2).architectureReview; // true
   */
  demands: demandsOf,
});
