import { createRequire } from "node:module";
import { textWidth } from "../../fonts/shipped-font.js";
import type { BrokenRule } from "./check.js";
import type { Graph } from "./graph.js";

const require = createRequire(import.meta.url);

/** How two components belong together, in the order of the legend. */
export const KINDS = ["hard", "soft", "data", "failover or pair", "part or member"] as const;

export type Kind = (typeof KINDS)[number];

/** A place in pixels from the picture's upper left; of a box or a label its middle. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** An arrow of the picture. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly kind: Kind;
}

/** An arrow with the rules that it breaks and its way, from border to border. */
export interface Route extends Arrow {
  readonly rules: readonly number[];
  readonly points: readonly Point[];
  /** Where its rules stand, where it breaks some. */
  readonly label: Point | undefined;
}

/** A box, with the rules that are broken by the component itself. */
export interface Box extends Point {
  readonly name: string;
  readonly stage: string;
  readonly rules: readonly number[];
}

/** The area of a stage. */
export interface Band extends Point {
  readonly stage: string;
  readonly width: number;
  readonly height: number;
}

/** Where everything stands. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly bands: readonly Band[];
  readonly routes: readonly Route[];
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const SMALL_SIZE = 10;
export const LABEL_HEIGHT = 16;

/** `rule 8, 9`. */
export function rulesText(rules: readonly number[]): string {
  return rules.length === 0 ? "" : `rule ${rules.join(", ")}`;
}

/** The width of a label with its margins. */
export function labelWidth(rules: readonly number[]): number {
  return Math.ceil(textWidth(rulesText(rules), SMALL_SIZE, 700)) + 8;
}

/** All arrows, each once: hard before soft; a member of a pair only as that. */
export function arrowsOf(graph: Graph): Arrow[] {
  const arrows = new Map<string, Arrow>();
  const key = (from: string, to: string, kind: Kind): string => JSON.stringify([from, to, kind]);
  const add = (from: string, to: string, kind: Kind): void => {
    if (kind === "soft" && arrows.has(key(from, to, "hard"))) return;
    arrows.set(key(from, to, kind), { from, to, kind });
  };
  for (const { name, hard, soft, receives, contains } of graph.components.values()) {
    for (const on of hard) add(name, on, "hard");
    for (const on of soft) add(name, on, "soft");
    for (const source of receives) add(source, name, "data");
    for (const part of contains) add(name, part, "part or member");
  }
  for (const { machinery, protects } of graph.failover)
    add(machinery, protects, "failover or pair");
  for (const { service, active, standby } of graph.pairs) {
    for (const member of [active, standby]) add(member, service, "failover or pair");
  }
  for (const { service, members } of graph.redundancy) {
    for (const member of members) add(service, member, "part or member");
  }
  return [...arrows.values()].filter(
    ({ from, to, kind }) =>
      kind !== "part or member" || !arrows.has(key(to, from, "failover or pair")),
  );
}

/** The rules that each arrow breaks, and each component that has no arrow of its own for one. */
function placeRules(broken: readonly BrokenRule[], arrows: readonly Arrow[]) {
  const between = new Map<string, Arrow[]>();
  // In either direction.
  const pair = (from: string, to: string): string => JSON.stringify([from, to].sort());
  for (const arrow of arrows) {
    const ends = pair(arrow.from, arrow.to);
    between.set(ends, [...(between.get(ends) ?? []), arrow]);
  }
  const placed = new Map<Arrow | string, Set<number>>();
  for (const { rule, path, message, component } of broken) {
    const [from = "", to = "", ...more] = path;
    // Rules 1 and 3 are about a component, their path tells why.
    const aboutArrow = rule !== 1 && rule !== 3 && path.length > 1 && more.length === 0;
    const candidates = aboutArrow ? (between.get(pair(from, to)) ?? []) : [];
    // Data comes from what a component receives it of: against the path. With both quotes, as those
    // within a name are escaped.
    const data = rule === 7 && message.includes('" receives data from "');
    const kinds: readonly Kind[] = data ? ["data"] : (ARROWS[rule] ?? []);
    const own = candidates.find(
      (arrow) => kinds.includes(arrow.kind) && arrow.from === (data ? to : from),
    );
    // A member of a pair is drawn as that alone.
    const arrow = own ?? candidates.find(({ kind }) => kind === "failover or pair");
    const place = arrow ?? component;
    placed.set(place, (placed.get(place) ?? new Set()).add(rule));
  }
  return (place: Arrow | string): number[] => [...(placed.get(place) ?? [])].sort((a, b) => a - b);
}

const ARROWS: Readonly<Record<number, readonly Kind[]>> = {
  5: ["hard"],
  6: ["hard"],
  7: ["hard", "soft"],
  8: ["failover or pair"],
  9: ["part or member"],
};

/** The part of dagre that is used; its own types can't be resolved. */
interface Dagre {
  readonly Graph: new (options: { multigraph: boolean; compound: boolean }) => DagreGraph;
  layout(graph: DagreGraph): void;
}

interface DagreGraph {
  setGraph(label: object): void;
  setNode(name: string, label: object): void;
  setParent(name: string, parent: string): void;
  setEdge(from: string, to: string, label: object, name: string): void;
  graph(): Size;
  node(name: string): Point & Size;
  edge(edge: { v: string; w: string; name: string }): Point & { readonly points: readonly Point[] };
}

/**
 * Layers from left to right (Sugiyama's method, by dagre), so that an arrow points to the right
 * wherever there is no cycle; each stage has an area of its own.
 */
export function layoutGraph(
  graph: Graph,
  arrows: readonly Arrow[],
  broken: readonly BrokenRule[],
  size: Size,
): Layout {
  const components = [...graph.components.values()];
  const rulesAt = placeRules(broken, arrows);
  const stages = graph.stages.filter((each) => components.some(({ stage }) => stage === each));
  const staged = stages.length > 1;
  // Loaded only where a picture is made; names are numbers, as a component's may be anything.
  const dagre = require("@dagrejs/dagre") as Dagre;
  const drawn = new dagre.Graph({ multigraph: true, compound: staged });
  drawn.setGraph({
    rankdir: "LR",
    nodesep: 24,
    edgesep: 16,
    ranksep: 64,
    marginx: 10,
    marginy: 20,
  });
  if (staged) stages.forEach((_, at) => drawn.setNode(`stage ${at}`, {}));
  const numbers = new Map(components.map(({ name }, at) => [name, String(at)]));
  for (const { name, stage } of components) {
    const number = numbers.get(name) ?? "";
    drawn.setNode(number, { ...size });
    if (staged) drawn.setParent(number, `stage ${stages.indexOf(stage)}`);
  }
  const ends = ({ from, to }: Arrow, at: number) => ({
    v: numbers.get(from) ?? "",
    w: numbers.get(to) ?? "",
    name: String(at),
  });
  arrows.forEach((arrow, at) => {
    const rules = rulesAt(arrow);
    const { v, w, name } = ends(arrow, at);
    const room =
      rules.length > 0 ? { width: labelWidth(rules), height: LABEL_HEIGHT, labelpos: "c" } : {};
    drawn.setEdge(v, w, { weight: arrow.kind === "hard" ? 3 : 1, ...room }, name);
  });
  dagre.layout(drawn);
  const boxes = components.map(({ name, stage }): Box => {
    const { x, y } = drawn.node(numbers.get(name) ?? "");
    return { name, stage, x, y, rules: rulesAt(name) };
  });
  const bands = staged
    ? stages.map((stage, at): Band => ({ stage, ...drawn.node(`stage ${at}`) }))
    : [];
  const routes = arrows.map((arrow, at): Route => {
    const { x, y, points } = drawn.edge(ends(arrow, at));
    const rules = rulesAt(arrow);
    return { ...arrow, rules, points, label: rules.length > 0 ? { x, y } : undefined };
  });
  return { ...drawn.graph(), boxes, bands, routes: spreadEnds(routes, boxes, size) };
}

/**
 * The ways with their ends at the boxes' left and right sides, spread along them in the order of
 * where they lead, so that no two meet in a point.
 */
function spreadEnds(routes: readonly Route[], boxes: readonly Box[], size: Size): Route[] {
  const places = new Map(boxes.map((box) => [box.name, box]));
  const ways = routes.map(({ points }) => [...points]);
  const sides = new Map<string, { way: Point[]; at: number; box: string; toward: number }[]>();
  routes.forEach(({ from, to, points }, index) => {
    const right = (points.at(-1)?.x ?? 0) > (points[0]?.x ?? 0);
    const [way = [], last] = [ways[index], points.length - 1];
    for (const [box, at, next, side] of [
      [from, 0, 1, right],
      [to, last, last - 1, !right],
    ] as const) {
      const key = `${side ? "right" : "left"} ${box}`;
      const toward = points[next]?.y ?? 0;
      sides.set(key, [...(sides.get(key) ?? []), { way, at, box, toward }]);
    }
  });
  for (const [key, ends] of sides) {
    const step = Math.min(12, (size.height - 14) / Math.max(1, ends.length - 1));
    const side = (key.startsWith("right") ? size.width : -size.width) / 2;
    ends.sort((a, b) => a.toward - b.toward);
    ends.forEach(({ way, at, box }, index) => {
      const { x, y } = places.get(box) ?? { x: 0, y: 0 };
      way[at] = { x: x + side, y: y + (index - (ends.length - 1) / 2) * step };
    });
  }
  return routes.map((route, index) => ({ ...route, points: ways[index] ?? [] }));
}
