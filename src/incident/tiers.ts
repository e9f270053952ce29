import { inspect } from "node:util";
import { checkOptions, isPlain, type Rule, type Rules } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { cleanText, counted, shownValue } from "../base/text.js";

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

/** Components by name. */
export interface TierOptions {
  readonly components: Readonly<Record<string, TierComponent>>;
  /** From the lowest to the highest. @default `["staging", "production"]` */
  readonly stages?: readonly string[];
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isWhole = (value: unknown, most: number): boolean =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most;

const names: Rule = { fits: isTexts, pass: "a list of components' names" };
const truth: Rule = { fits: (value) => typeof value === "boolean", pass: "true or false" };

const GRAPH = {
  components: {
    fits: isPlain,
    pass: "an object, { api: { tier: 2 } }",
  },
  stages: {
    fits: (value) => isTexts(value) && !hasTwice(value as string[]),
    pass: "different names from the lowest to the highest, such as staging and production",
  },
} satisfies Rules<TierOptions>;

/** The lists of a component with their arrows in Mermaid. */
const ARROWS = {
  hard: "-->",
  soft: "-.->",
  receives: "-. receives from .->",
  contains: "-- contains --o",
  protects: "-. protects .->",
  pair: "-- pair --o",
  members: "-- member --o",
} as const;
const LISTS = Object.keys(ARROWS) as (keyof typeof ARROWS)[];

const COMPONENT = {
  tier: {
    fits: (value) => isWhole(value, 1_000),
    pass: "1 to 4 by the highest severity that it can cause, 5 and up for pre-production",
  },
  stage: { fits: isText, pass: "one of the stages" },
  hard: names,
  soft: names,
  receives: names,
  contains: names,
  protects: names,
  members: names,
  pair: {
    fits: (value) => isTexts(value) && (value as string[]).length === 2,
    pass: "the names of the active and the standby component",
  },
  reliable: truth,
  testHelpers: truth,
  causes: { fits: (value) => isWhole(value, 4), pass: "the highest severity, 1 to 4" },
} satisfies Rules<TierComponent>;

type Component = Required<Omit<TierComponent, "causes">> & {
  readonly name: string;
  readonly causes: number | undefined;
};

/** Components by name with their defaults filled in, every name known. */
class Graph {
  constructor(
    readonly stages: readonly string[],
    readonly components: ReadonlyMap<string, Component>,
  ) {}

  get all(): Component[] {
    return [...this.components.values()];
  }

  tier(name: string): number {
    return this.components.get(name)?.tier ?? NaN;
  }

  /** `"api" (tier 2)` */
  named(name: string): string {
    return `${shownValue(name)} (tier ${this.tier(name)})`;
  }

  /** The shortest path of hard dependencies to the lowest tier number; the name alone if that is its own. */
  lowestPath(name: string): string[] {
    const before = new Map([[name, ""]]);
    let lowest = name;
    // A Map visits what is added while it is walked, so this is a search by breadth.
    for (const [at] of before) {
      if (this.tier(at) < this.tier(lowest)) lowest = at;
      for (const other of this.components.get(at)?.hard ?? []) {
        if (!before.has(other)) before.set(other, at);
      }
    }
    const path = [lowest];
    while (path[0] !== name) path.unshift(before.get(path[0] ?? "") ?? name);
    return path;
  }
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
}

/** A component that breaks a rule, and its sentence after its name and tier. */
type Breach = readonly [component: string, sentence: string];

/** The policy's words, in its order; some rules only define. */
const RULES: readonly (readonly [text: string, check?: (graph: Graph) => Iterable<Breach>])[] = [
  [
    "Tier N is assigned to anything that can cause a severity N event (or a less severe one) but no event of a lower severity number. Tier 1 is anything that can cause severity 1.",
    function* ({ all }) {
      for (const { name, tier, causes = tier } of all) {
        if (tier > causes) yield [name, `can cause severity ${causes}: put it in tier ${causes}`];
      }
    },
  ],
  ["A low tier number marks a liability, not importance."],
  [
    "Pre-production stages have tier >= 5.",
    function* ({ all, stages }) {
      for (const { name, tier, stage } of all) {
        if (stage === stages.at(-1) || tier >= 5) continue;
        yield [
          name,
          `is at the pre-production stage ${shownValue(stage)}: put it in tier 5 or above`,
        ];
      }
    },
  ],
  [
    "A component is a service, a process, a host, a device and so on, and may contain other components.",
  ],
  [
    "Component A hard-depends on B when an outage of B causes an outage of A. It soft-depends on B when an outage of B causes only a subsystem failure, an ancillary-feature failure or a short downtime.",
    function* ({ all }) {
      for (const { name, hard, soft } of all) {
        for (const other of hard.filter((each) => soft.includes(each))) {
          yield [name, `depends on ${shownValue(other)} both hard and soft: keep one of the two`];
        }
      }
    },
  ],
  [
    "A component may hard-depend only on components of the same or a lower tier number. A component found to hard-depend on a lower-numbered tier is reclassified at once to that tier.",
    hardDependencies,
  ],
  [
    "A component at a higher stage (for example production) must not depend on, or receive data from, a lower stage. The reverse is allowed.",
    function* ({ all, components, stages }) {
      for (const { name, stage, hard, soft, receives } of all) {
        const verbs = {
          "hard-depends on": hard,
          "soft-depends on": soft,
          "receives data from": receives,
        };
        for (const [verb, others] of Object.entries(verbs)) {
          for (const other of others) {
            const lower = components.get(other)?.stage ?? "";
            if (stages.indexOf(lower) >= stages.indexOf(stage)) continue;
            yield [
              name,
              `at the stage ${shownValue(stage)} ${verb} ${shownValue(other)} at the lower stage ${shownValue(lower)}: use a component at ${shownValue(stage)} or above`,
            ];
          }
        }
      }
    },
  ],
  [
    "Failover machinery is in the same tier (or a lower number) as the service it protects. Both members of an active/standby pair share the tier of the service.",
    function* (graph) {
      for (const { name, tier, protects, pair } of graph.all) {
        for (const service of protects.filter((each) => graph.tier(each) < tier)) {
          const least = graph.tier(service);
          yield [name, `protects ${graph.named(service)}: put it in tier ${least} or lower`];
        }
        for (const member of pair.filter((each) => graph.tier(each) !== tier)) {
          yield [
            member,
            `of an active/standby pair doesn't share the tier of its service ${graph.named(name)}: put both in the same tier`,
          ];
        }
      }
    },
  ],
  [
    "Redundant components: the test helper service as a whole is at least tier 2. Its individual processes and VMs may be tier 3 or 4 if a load balancer reliably moves traffic away from a failing host with no significant downtime.",
    redundantComponents,
  ],
];

function* hardDependencies(graph: Graph): Iterable<Breach> {
  for (const { name, tier, stage, hard } of graph.all) {
    for (const other of hard.filter((each) => graph.tier(each) > tier)) {
      const remedy = `put ${shownValue(other)} in tier ${tier}, or make the dependency soft`;
      yield [name, `hard-depends on ${graph.named(other)}, a higher tier number: ${remedy}`];
    }
    const path = graph.lowestPath(name);
    const end = path.at(-1) ?? name;
    if (end === name) continue;
    const by = path.slice(1, -1).map((each) => shownValue(each));
    const way = by.length > 0 ? ` by way of ${by.join(", ")}` : "";
    const lowest = graph.tier(end);
    // Rule 3 keeps a pre-production component out of a tier that rule 6 would put it in.
    const remedy =
      stage === graph.stages.at(-1) || lowest >= 5
        ? `reclassify ${shownValue(name)} to tier ${lowest} at once`
        : `make a dependency soft, or use a copy at ${shownValue(stage)}, as rule 3 keeps ${shownValue(name)} from tier ${lowest}`;
    yield [name, `hard-depends on ${graph.named(end)}${way}: ${remedy}`];
  }
}

function* redundantComponents(graph: Graph): Iterable<Breach> {
  for (const { name, tier, members, reliable, testHelpers } of graph.all) {
    if (testHelpers && tier > 2) {
      yield [name, "is the test helper service, at least tier 2 as a whole: put it in tier 2"];
    }
    const least = Math.max(2, tier);
    const isGuarded = reliable && graph.all.some(({ protects }) => protects.includes(name));
    for (const member of members.filter((each) => graph.tier(each) > least)) {
      const of = `is a member of ${graph.named(name)}`;
      if (graph.tier(member) > Math.max(4, tier)) {
        yield [member, `${of}: put it in tier ${isGuarded ? "3 or 4" : least}`];
      } else if (!isGuarded) {
        yield [
          member,
          `${of} without a reliable balancer: put it in tier ${least}, or name the balancer (protects: [${shownValue(name)}]) and write reliable: true`,
        ];
      }
    }
  }
}

/** What section 1.4 demands of a component. */
export interface TierDemands {
  readonly architectureReview: boolean;
  readonly codeReview: boolean;
  /** The third-party security review. */
  readonly securityReview: boolean;
  readonly changeManagement: boolean;
}

/** The table of section 1.4: each demands what the higher tier numbers do. */
function demandsOf(tier: number): TierDemands | null {
  if (![1, 2, 3, 4].includes(tier)) return null;
  return {
    architectureReview: tier <= 2,
    codeReview: tier <= 3,
    securityReview: tier === 1,
    changeManagement: tier === 1,
  };
}

/** A component graph: review it against the policy, or draw it with Mermaid. */
export class TierGraph {
  readonly #graph: Graph;

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  /**
   * The rules of section 1.3 that the tiers as written break, by rule, then by component.
   *
   * @example
   * tiers({ components: { api: { tier: 1, hard: ["cache"] }, cache: { tier: 3 } } }).review();
   */
  review(): TierBreach[] {
    return RULES.flatMap(([, check], at) =>
      Array.from(check?.(this.#graph) ?? [], ([component, sentence]) => ({
        rule: at + 1,
        component,
        sentence: `${this.#graph.named(component)} ${sentence}.`,
      })).sort((a, b) => (a.component < b.component ? -1 : Number(a.component > b.component))),
    );
  }

  /**
   * The graph as Mermaid text, which JupyterLab, GitHub and GitLab draw: a box a component with its
   * tier, a solid arrow a hard dependency, a dotted one a soft one, stages apart; components that
   * break a rule in red.
   *
   * @example
   * tiers({ components: { api: { tier: 2, soft: ["db"] }, db: { tier: 2 } } }).mermaid();
   */
  mermaid(): string {
    const { stages, all } = this.#graph;
    const known = all.map(({ name }) => name);
    const id = (name: string): string => `c${known.indexOf(name)}`;
    const boxes = stages
      .toReversed()
      .flatMap((stage, at) => [
        `  subgraph s${at}["${label(stage)}"]`,
        ...all
          .filter((each) => each.stage === stage)
          .map(({ name, tier }) => `    ${id(name)}["${label(name)} (${tier})"]`),
        "  end",
      ]);
    const arrows = all.flatMap((component) =>
      LISTS.flatMap((list) =>
        component[list].map((other) => `  ${id(component.name)} ${ARROWS[list]} ${id(other)}`),
      ),
    );
    const lines = ["flowchart TD", ...boxes, ...arrows];
    const broken = [...new Set(this.review().map(({ component }) => id(component)))];
    if (broken.length > 0) {
      lines.push("  classDef broken stroke:#d62728,stroke-width:3px");
      lines.push(`  class ${broken.join(",")} broken`);
    }
    return lines.join("\n");
  }

  /** The review, one line a breach. */
  toString(): string {
    const breaches = this.review();
    const rules = new Set(breaches.map(({ rule }) => rule)).size;
    const found =
      rules === 0
        ? "no rule broken that the data shows"
        : `${counted(rules, "rule")} broken in ${counted(breaches.length, "place")}`;
    return [
      `${counted(this.#graph.components.size, "component")}, ${found}`,
      ...breaches.map(({ rule, sentence }) => `  Rule ${rule}: ${sentence}`),
    ].join("\n");
  }

  [inspect.custom](): string {
    return this.toString();
  }

  /** A notebook draws the Mermaid block; other readers get the review alone. */
  [Symbol.for("Jupyter.display")](): Record<string, string> {
    const [first = "", ...breaches] = this.toString().split("\n");
    const items = breaches.map((line) => `- ${markdown(line.trim())}`);
    return {
      "text/markdown": `${first}\n\n${items.join("\n")}\n\n\`\`\`mermaid\n${this.mermaid()}\n\`\`\`\n`,
      "text/plain": this.toString(),
    };
  }
}

/**
 * A component graph to review against the operations policy (1.3): see docs/incidents.md. Data in
 * YAML or JSON is parsed first: `tiers(JSON.parse(text))`.
 *
 * @throws ProbelabError for a missing tier, a name or stage that isn't there, an option that isn't known.
 * @example
 * tiers({ components: { api: { tier: 2, hard: ["database"] }, database: { tier: 1 } } });
 */
function readTiers(options: TierOptions): TierGraph {
  checkOptions(options ?? null, GRAPH, "review tiers");
  const { components, stages = ["staging", "production"] } = options;
  if (components === undefined) {
    throw new ProbelabError(
      "Can't review tiers without components: pass { components: { api: { tier: 2 } } }.",
    );
  }
  const known = Object.keys(components);
  const read = Object.entries(components).map(([name, component]) => {
    const where = `the component ${shownValue(name)}`;
    checkOptions(component ?? null, COMPONENT, `review ${where}`);
    const { tier, stage = stages.at(-1) ?? "", causes, ...rest } = component;
    if (tier === undefined) {
      throw new ProbelabError(`Can't review ${where} without a tier: pass ${COMPONENT.tier.pass}.`);
    }
    if (!stages.includes(stage)) {
      throw new ProbelabError(
        `Can't review ${where} at the stage ${shownValue(stage)}: pass one of ${stages.map((each) => shownValue(each)).join(", ")}.`,
      );
    }
    const none = { hard: [], soft: [], receives: [], contains: [], protects: [], members: [] };
    const filled = { ...none, pair: [], reliable: false, testHelpers: false, ...rest };
    for (const list of LISTS) checkNames(name, list, filled[list], known);
    return [name, { ...filled, name, tier, stage, causes }] as const;
  });
  return new TierGraph(new Graph(stages, new Map(read)));
}

/** Refuses names that aren't among the components, a name twice, and a component that names itself. */
function checkNames(
  component: string,
  list: string,
  given: readonly string[],
  known: readonly string[],
): void {
  const refused = (why: string) =>
    new ProbelabError(`Can't review the component ${shownValue(component)}: ${list} names ${why}`);
  if (given.includes(component)) throw refused("the component itself; take it out.");
  if (hasTwice(given)) throw refused("a component twice; take one out.");
  const unknown = given.find((each) => !known.includes(each));
  if (unknown === undefined) return;
  const near = nearName(unknown, known);
  const remedy = near === undefined ? "Add it to components." : `Did you mean ${shownValue(near)}?`;
  throw refused(`${shownValue(unknown)}, which is no component. ${remedy}`);
}

function hasTwice(texts: readonly string[]): boolean {
  return new Set(texts).size < texts.length;
}

export const tiers = Object.assign(readTiers, {
  /** The rules of section 1.3 in the policy's words. */
  rules: RULES.map(([text], at): TierRule => ({ number: at + 1, text })),
  /**
   * What section 1.4 demands of a tier, 1 to 4; null from 5.
   *
   * @example
   * tiers.demands(2).architectureReview; // true
   */
  demands: demandsOf,
});

/** A name in Mermaid's quotes: whatever could end them, or be markup, as its code. */
function label(text: string): string {
  return cleanText(text, 60).replace(
    /[^\p{L}\p{M}\p{N} ._:/()-]/gu,
    (character) => `#${character.codePointAt(0)};`,
  );
}

/** A line of text that Markdown takes as text. */
function markdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|~!&]/g, (character) => `\\${character}`);
}
