import { failoverOf } from "./graph.js";
import { shown } from "../shown.js";
import { named, tierIn, type Situation, type Violation } from "./violation.js";

/** Rule 8: failover machinery and balancers no number above their service's, both members of a pair the same. */
export function failoverViolations(situation: Situation): Violation[] {
  const { pairs } = situation.graph;
  const machinery = failoverOf(situation.graph)
    .filter((each) => tierIn(situation, each.machinery) > tierIn(situation, each.protects))
    .map((each) => ({
      rule: 8,
      component: each.machinery,
      path: [each.machinery, each.protects],
      message: `${named(situation, each.machinery)} protects ${named(situation, each.protects)}, which has a lower tier number.`,
      remedy: `Put ${shown(each.machinery)} in tier ${tierIn(situation, each.protects)} or lower.`,
    }));
  const members = pairs.flatMap(({ service, active, standby }) =>
    [[active, "active"] as const, [standby, "standby"] as const]
      .filter(([member]) => tierIn(situation, member) !== tierIn(situation, service))
      .map(([member, role]) => {
        const [own, shared] = [tierIn(situation, member), tierIn(situation, service)];
        return {
          rule: 8,
          component: member,
          path: [member, service],
          message: `${named(situation, member)}, the ${role} of a pair, doesn't share the tier of its service ${named(situation, service)}.`,
          remedy:
            own > shared
              ? `Put ${shown(member)} in tier ${shared}.`
              : `Put ${shown(service)} and both members in tier ${own}, or take away what puts ${shown(member)} there.`,
        };
      }),
  );
  return [...machinery, ...members];
}

/**
 * Rule 9: the test helper service as a whole is at least tier 2; members of a redundant service may
 * be in tier 3 or 4, above it, only behind a balancer that reliably moves traffic away.
 */
export function redundancyViolations(situation: Situation): Violation[] {
  return situation.graph.redundancy.flatMap((group) => {
    const { service, members, balancer, testHelpers } = group;
    const whole = tierIn(situation, service);
    const found: Violation[] = [];
    if (testHelpers && whole > 2) {
      found.push({
        rule: 9,
        component: service,
        path: [service],
        message: `${named(situation, service)} is the test helper service, which is at least tier 2 as a whole.`,
        remedy: `Put ${shown(service)} in tier 2.`,
      });
    }
    for (const member of members) {
      const tier = tierIn(situation, member);
      const path = [service, member];
      if (tier > Math.max(4, whole)) {
        found.push({
          rule: 9,
          component: member,
          path,
          message: `${named(situation, member)} is a member of ${named(situation, service)}; members may be in tier 4 at most.`,
          remedy: `Put ${shown(member)} in tier ${balancer !== null && group.reliable ? "3 or 4" : Math.max(2, whole)}.`,
        });
      } else if (tier > Math.max(2, whole) && !(balancer !== null && group.reliable)) {
        const lacks =
          balancer === null ? "no balancer" : `${shown(balancer)}, not said to be reliable,`;
        found.push({
          rule: 9,
          component: member,
          path,
          message: `${named(situation, member)} is a member of ${named(situation, service)}, and ${lacks} moves traffic away from it when it fails.`,
          remedy: `Put ${shown(member)} in tier ${Math.max(2, whole)}, or write ${balancer === null ? "the balancer and " : ""}reliable: true if no significant downtime follows.`,
        });
      }
    }
    return found;
  });
}
