import { shownValue } from "../base/text.js";
import type { SeverityNumber } from "../incident/severities/severities.js";

/** How two components belong together, in the order of the picture's legend. */
export const RELATIONS = ["hard", "soft", "data", "failover or pair", "part or member"] as const;

export type Relation = (typeof RELATIONS)[number];

/** A service, a process, a host, a device and so on: policy 1.3, rule 4. */
export interface Component {
  readonly name: string;
  /** 1 and up; 1 is the greatest liability, 5 and up can cause none of the four severities. */
  readonly tier: number;
  readonly stage: string;
  /** Components whose outage causes an outage of this one. */
  readonly hard: readonly string[];
  /** Components whose outage costs this one a part, an ancillary feature or a short downtime. */
  readonly soft: readonly string[];
  /** Components that it receives data from. */
  readonly receives: readonly string[];
  /** Components that are parts of it. */
  readonly contains: readonly string[];
  /** The highest severity that it can cause, where the file tells it. */
  readonly causes: SeverityNumber | null;
}

/** Failover machinery and the service that it protects. */
export interface Failover {
  readonly machinery: string;
  readonly protects: string;
}

/** An active/standby pair and the service that it gives. */
export interface Pair {
  readonly service: string;
  readonly active: string;
  readonly standby: string;
}

/** A service whose members stand in for each other. */
export interface Redundancy {
  readonly service: string;
  readonly members: readonly string[];
  /** What moves traffic from one member to another; null where nothing does. */
  readonly balancer: string | null;
  /** That it moves traffic away from a failing member reliably, with no significant downtime. */
  readonly reliable: boolean;
  /** That this is the test helper service, which is at least tier 2. */
  readonly testHelpers: boolean;
}

/** A component graph whose names are known and whose hard dependencies have no cycle. */
export interface Graph {
  /** The file's name, or what the object was called. */
  readonly source: string;
  /** When the file was last changed, or the object was given. */
  readonly asOf: Date;
  /** From the lowest to the highest, which is production. */
  readonly stages: readonly string[];
  /** By name, in the order of the names: nothing depends on the order of the file. */
  readonly components: ReadonlyMap<string, Component>;
  /** That of the file, and the balancer of each redundant service, which protects it. Each once. */
  readonly failover: readonly Failover[];
  readonly pairs: readonly Pair[];
  readonly redundancy: readonly Redundancy[];
}

/** `a → b → c`; the middle of a long path is left out. */
export function pathText(path: readonly string[], most = 12): string {
  const names = path.map((name) => shownValue(name).slice(1, -1));
  if (names.length <= most) return names.join(" → ");
  const half = Math.floor(most / 2);
  return [
    ...names.slice(0, half),
    `… ${(names.length - 2 * half).toLocaleString("en-US")} more …`,
    ...names.slice(-half),
  ].join(" → ");
}

/** A name on one line, cut to 40 characters. */
export function nameText(name: string): string {
  return shownValue(name, 40).slice(1, -1).replaceAll('\\"', '"').replaceAll("\\\\", "\\");
}
