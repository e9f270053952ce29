import { inspect } from "node:util";
import { checkOptions, type Rule, type Rules } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { cleanText, counted, shownValue } from "../base/text.js";
import {
  breachesOf,
  DEMANDS,
  RULES,
  type Graph,
  type TierBreach,
  type TierComponent,
  type TierDemands,
  type TierRule,
} from "./rules.js";

/** Components by name. */
export interface TierOptions {
  readonly components: Readonly<Record<string, TierComponent>>;
  /** From the lowest to the highest; default `["staging", "production"]`. */
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
    fits: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
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
    return breachesOf(this.#graph);
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
    const { stages, components } = this.#graph;
    const all = [...components.values()];
    const ids = new Map(all.map(({ name }, at) => [name, `c${at}`]));
    const id = (name: string): string => ids.get(name) ?? name;
    const arrows = all.flatMap((component) =>
      LISTS.flatMap((list) =>
        component[list].map((other) => `  ${id(component.name)} ${ARROWS[list]} ${id(other)}`),
      ),
    );
    const broken = [...new Set(this.review().map(({ component }) => component))];
    return [
      "flowchart TD",
      ...stages
        .toReversed()
        .flatMap((stage, at) => [
          `  subgraph s${at}["${label(stage)}"]`,
          ...all
            .filter((each) => each.stage === stage)
            .map(({ name, tier }) => `    ${id(name)}["${label(name)} (${tier})"]`),
          "  end",
        ]),
      ...arrows,
      ...(broken.length > 0
        ? [
            `  classDef broken stroke:#d62728,stroke-width:3px`,
            `  class ${broken.map(id).join(",")} broken`,
          ]
        : []),
    ].join("\n");
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
  return new TierGraph({ components: new Map(read), stages });
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
  /** The rules of section 1.3 in the policy's words, each with what a review can't see. */
  rules: RULES.map(({ number, text, unseen }): TierRule => ({ number, text, unseen })),
  /**
   * What section 1.4 demands of a tier, 1 to 4; null from 5.
   *
   * @example
   * tiers.demands(2).architectureReview; // true
   */
  demands: (tier: number): TierDemands | null => DEMANDS[tier - 1] ?? null,
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
