import { createRequire } from "node:module";
import { textWidth } from "../fonts/shipped-font.js";
import type { BrokenRule } from "./check.js";
import type { Graph, Relation } from "./graph.js";

const require = createRequire(import.meta.url);

/** A place in pixels from the picture's upper left; of a box or a label its middle. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** An arrow of the picture. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly relation: Relation;
}

/** An arrow with the rules that it breaks, its way from border to border, and where its rules stand. */
export interface Route extends Arrow {
  readonly rules: readonly number[];
  readonly points: readonly Point[];
  readonly label: Point;
}

/** Where everything stands; the rules of a box are those that the component itself breaks. */
export interface Layout extends Size {
  readonly boxes: readonly (Point & {
    readonly name: string;
    readonly stage: string;
    readonly rules: readonly number[];
  })[];
  /** The areas of the stages. */
  readonly bands: readonly (Point & Size & { readonly stage: string })[];
  readonly routes: readonly Route[];
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

function keyOf({ from, to, relation }: Arrow): string {
  return JSON.stringify([from, to, relation]);
}

/** All arrows, each once: hard before soft; a member of a pair only as that. */
export function arrowsOf(graph: Graph): Arrow[] {
  const arrows = new Map<string, Arrow>();
  const add = (from: string, to: string, relation: Relation): void => {
    if (relation === "soft" && arrows.has(keyOf({ from, to, relation: "hard" }))) return;
    arrows.set(keyOf({ from, to, relation }), { from, to, relation });
  };
  for (const { name, hard, soft, receives, contains } of graph.components.values()) {
    for (const on of hard) add(name, on, "hard");
    for (const on of soft) add(name, on, "soft");
    for (const source of receives) add(source, name, "data");
    for (const part of contains) add(name, part, "part or member");
  }
  for (const { machinery, protects } of graph.failover) {
    add(machinery, protects, "failover or pair");
  }
  for (const { service, active, standby } of graph.pairs) {
    for (const member of [active, standby]) add(member, service, "failover or pair");
  }
  for (const { service, members } of graph.redundancy) {
    for (const member of members) add(service, member, "part or member");
  }
  return [...arrows.values()].filter(
    ({ from, to, relation }) =>
      relation !== "part or member" ||
      !arrows.has(keyOf({ from: to, to: from, relation: "failover or pair" })),
  );
}

/** The rules that each arrow breaks, and each component that has no arrow of its own for one. */
function placeRules(broken: readonly BrokenRule[], arrows: readonly Arrow[]) {
  const known = new Map(arrows.map((arrow) => [keyOf(arrow), arrow]));
  const placed = new Map<Arrow | string, Set<number>>();
  for (const { rule, path, component, relation } of broken) {
    const [one = "", other = ""] = path;
    // Data comes from what a component receives it of: against the path.
    const [from, to] = relation === "data" ? [other, one] : [one, other];
    const place =
      relation === null
        ? component
        : (known.get(keyOf({ from, to, relation })) ??
          // A dependency that is both is drawn as hard, a member of a pair as that alone.
          known.get(
            relation === "soft"
              ? keyOf({ from, to, relation: "hard" })
              : keyOf({ from: to, to: from, relation: "failover or pair" }),
          ) ??
          component);
    placed.set(place, (placed.get(place) ?? new Set()).add(rule));
  }
  return (place: Arrow | string): number[] => [...(placed.get(place) ?? [])].sort((a, b) => a - b);
}

/** The part of dagre that is used; its own types can't be resolved. */
interface Dagre {
  readonly Graph: new (options: { multigraph: boolean; compound: boolean }) => {
    setGraph(label: object): void;
    setNode(name: string, label: object): void;
    setParent(name: string, parent: string): void;
    setEdge(from: string, to: string, label: object, name: string): void;
    graph(): Size;
    node(name: string): Point & Size;
    edge(from: string, to: string, name: string): Point & { readonly points: readonly Point[] };
  };
  layout(graph: InstanceType<Dagre["Graph"]>): void;
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
  const gaps = { nodesep: 24, edgesep: 16, ranksep: 64, marginx: 10, marginy: 20 };
  drawn.setGraph({ rankdir: "LR", ...gaps });
  if (staged) stages.forEach((_, at) => drawn.setNode(`stage ${at}`, {}));
  const numbers = new Map(components.map(({ name }, at) => [name, String(at)]));
  const numberOf = (name: string): string => numbers.get(name) ?? "";
  for (const { name, stage } of components) {
    drawn.setNode(numberOf(name), { ...size });
    if (staged) drawn.setParent(numberOf(name), `stage ${stages.indexOf(stage)}`);
  }
  arrows.forEach((arrow, at) => {
    const rules = rulesAt(arrow);
    const room =
      rules.length > 0 ? { width: labelWidth(rules), height: LABEL_HEIGHT, labelpos: "c" } : {};
    const label = { weight: arrow.relation === "hard" ? 3 : 1, ...room };
    drawn.setEdge(numberOf(arrow.from), numberOf(arrow.to), label, String(at));
  });
  dagre.layout(drawn);
  const boxes = components.map(({ name, stage }) => {
    const { x, y } = drawn.node(numberOf(name));
    return { name, stage, x, y, rules: rulesAt(name) };
  });
  const routes = arrows.map((arrow, at): Route => {
    const { x, y, points } = drawn.edge(numberOf(arrow.from), numberOf(arrow.to), String(at));
    return { ...arrow, rules: rulesAt(arrow), points, label: { x, y } };
  });
  return {
    ...drawn.graph(),
    boxes,
    bands: staged ? stages.map((stage, at) => ({ stage, ...drawn.node(`stage ${at}`) })) : [],
    routes: spreadEnds(routes, boxes, size),
  };
}

/**
 * The ways with their ends at the boxes' left and right sides, spread along them in the order of
 * where they lead, so that no two meet in a point.
 */
function spreadEnds(routes: readonly Route[], boxes: Layout["boxes"], size: Size): Route[] {
  const ways = routes.map((route) => ({ ...route, points: [...route.points] }));
  const ends = ways.flatMap(({ from, to, points }) => {
    const last = points.length - 1;
    const side = (points[last]?.x ?? 0) > (points[0]?.x ?? 0) ? 1 : -1;
    return [
      { points, at: 0, box: from, side, toward: points[1]?.y ?? 0 },
      { points, at: last, box: to, side: -side, toward: points[last - 1]?.y ?? 0 },
    ];
  });
  for (const { name, x, y } of boxes) {
    for (const side of [-1, 1]) {
      const here = ends.filter((end) => end.box === name && end.side === side);
      here.sort((a, b) => a.toward - b.toward);
      const step = Math.min(12, (size.height - 14) / Math.max(1, here.length - 1));
      here.forEach(({ points, at }, index) => {
        points[at] = {
          x: x + (side * size.width) / 2,
          y: y + (index - (here.length - 1) / 2) * step,
        };
      });
    }
  }
  return ways;
}
