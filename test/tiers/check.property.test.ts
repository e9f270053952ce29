import fc from "fast-check";
import { expect, test } from "vitest";
import type { BrokenRule } from "../../src/tiers/check.js";
import { tiers } from "../../src/tiers/tiers.js";
import { randomGraph, turned, type WrittenGraph } from "./random-graph.js";
import { brokenRules, causedSeverity, settledTiers, writtenTiers } from "./reference.js";

const RUNS = { seed: 8, numRuns: 400 };

/** As the reference writes it; of rule 1 the half that it knows. */
function written(broken: readonly BrokenRule[]): Set<string> {
  return new Set(
    broken
      .filter(({ rule, message }) => rule !== 1 || !message.includes("at most"))
      .map(({ rule, component, path }) =>
        [rule, component, ...(rule === 1 || rule === 3 ? [] : path)].join(" "),
      ),
  );
}

const applied = (graph: WrittenGraph, to: Record<string, number>): WrittenGraph => ({
  ...graph,
  components: Object.fromEntries(
    Object.entries(graph.components).map(([name, each]) => [
      name,
      { ...each, tier: to[name] ?? each.tier },
    ]),
  ),
});

test("check() breaks the same rules as each of them looked at by itself, before and after", () => {
  fc.assert(
    fc.property(randomGraph(), (graph) => {
      const { broken } = tiers.graph(graph).check();
      expect(written(broken.filter((each) => each.written))).toEqual(
        brokenRules(graph, writtenTiers(graph)),
      );
      expect(written(broken.filter((each) => each.resulting))).toEqual(
        brokenRules(graph, settledTiers(graph)),
      );
    }),
    RUNS,
  );
});

test("check() reclassifies as applying each rule until nothing changes does", () => {
  let lowered = 0;
  fc.assert(
    fc.property(randomGraph(), (graph) => {
      const report = tiers.graph(graph).check();
      const settled = settledTiers(graph);
      expect(Object.fromEntries(report.reviews.map((each) => [each.component, each.tier]))).toEqual(
        settled,
      );
      const before = writtenTiers(graph);
      const changed = Object.keys(before)
        .filter((name) => before[name] !== settled[name])
        .sort();
      expect(report.reclassify.map(({ component }) => component)).toEqual(changed);
      for (const { component, from, to } of report.reclassify) {
        expect([from, to]).toEqual([before[component], settled[component]]);
        expect(to).toBeLessThan(from);
      }
      lowered += changed.length;
    }),
    RUNS,
  );
  expect(lowered).toBeGreaterThan(400);
});

test("check() names a path whose every step is a dependency, and whose end gives the tier", () => {
  fc.assert(
    fc.property(randomGraph(), (graph) => {
      const settled = settledTiers(graph);
      const hard = (from: string, to: string) => graph.components[from]?.hard.includes(to) ?? false;
      const guarded = (from: string, to: string) =>
        graph.failover.some(({ machinery, protects }) => machinery === from && protects === to) ||
        graph.redundancy.some(({ service, balancer }) => balancer === from && service === to) ||
        graph.pairs.some(
          ({ service, active, standby }) => service === to && [active, standby].includes(from),
        );
      for (const { component, to, because, rules } of tiers.graph(graph).check().reclassify) {
        expect(because[0]).toBe(component);
        const end = because.at(-1) ?? "";
        because.slice(1).forEach((name, at) => {
          const before = because[at] ?? "";
          const step =
            (rules.includes(6) && hard(before, name)) ||
            (rules.includes(8) && guarded(before, name)) ||
            (rules.includes(1) && hard(name, before));
          expect(step, `${before} to ${name} by ${rules.join()}`).toBe(true);
        });
        const gives = [graph.components[end]?.tier, graph.components[end]?.causes];
        const helpers = graph.redundancy.some((each) => each.testHelpers && each.service === end);
        expect([...gives, helpers ? 2 : undefined]).toContain(to);
        if (!rules.includes(1)) expect(settled[end]).toBe(to);
      }
    }),
    RUNS,
  );
});

test("check() of the tiers that result reclassifies nothing more and breaks the same rules", () => {
  fc.assert(
    fc.property(randomGraph(), (graph) => {
      const first = tiers.graph(graph).check();
      const again = tiers.graph(applied(graph, settledTiers(graph))).check();
      expect(again.reclassify).toEqual([]);
      expect(written(again.broken)).toEqual(written(first.broken.filter((each) => each.resulting)));
      expect(again.broken.every((each) => each.written && each.resulting)).toBe(true);
    }),
    RUNS,
  );
});

test("check() doesn't hang on the order of the file", () => {
  fc.assert(
    fc.property(randomGraph(), fc.integer({ min: 0, max: 9 }), (graph, by) => {
      const options = { name: "g", asOf: new Date(0) };
      const [one, other] = [tiers.graph(graph, options), tiers.graph(turned(graph, by), options)];
      expect(other.check()).toEqual(one.check());
      expect(other.check().toString()).toBe(one.check().toString());
    }),
    { ...RUNS, numRuns: 300 },
  );
});

test("check() never raises a tier number, and only to where a rule puts it", () => {
  fc.assert(
    fc.property(randomGraph(), (graph) => {
      for (const { component, tier } of tiers.graph(graph).check().reviews) {
        const own = graph.components[component]?.tier ?? NaN;
        expect(tier).toBeLessThanOrEqual(own);
        expect(tier).toBeLessThanOrEqual(causedSeverity(graph, component));
      }
    }),
    RUNS,
  );
});
