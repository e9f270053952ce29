import { createRequire } from "node:module";
import type { Graph } from "./graph.js";
import type { Arrow } from "./picture-edges.js";
import { placeEnds } from "./picture-ends.js";
import { stackStages } from "./picture-stages.js";

const require = createRequire(import.meta.url);

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A box of the picture by its middle, in pixels from the picture's upper left. */
export interface Box extends Point {
  readonly name: string;
  readonly stage: string;
}

/** The area of a stage. */
export interface Band extends Point {
  readonly stage: string;
  readonly width: number;
  readonly height: number;
}

/** An arrow with its way, from border to border. */
export interface Route extends Arrow {
  readonly points: readonly Point[];
}

/** Where everything stands. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly bands: readonly Band[];
  readonly routes: readonly Route[];
}

/** Size of a box. */
export interface BoxSize {
  readonly width: number;
  readonly height: number;
}

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
  graph(): { readonly width?: number; readonly height?: number };
  node(name: string): Point & BoxSize;
  edge(edge: { v: string; w: string; name: string }): { readonly points: readonly Point[] };
}

/** Between layers. */
export const RANK_GAP = 64;

/**
 * Layers from left to right (Sugiyama's method, by dagre), so that an arrow points to the right
 * wherever there is no cycle; the boxes of a stage stay together.
 */
export function layoutGraph(graph: Graph, arrows: readonly Arrow[], size: BoxSize): Layout {
  const components = [...graph.components.values()];
  const stages = [...graph.stages]
    .reverse()
    .filter((each) => components.some(({ stage }) => stage === each));
  // Loaded only where a picture is made; by number, as a name may be anything.
  const dagre = require("@dagrejs/dagre") as Dagre;
  const laid = new dagre.Graph({ multigraph: true, compound: stages.length > 1 });
  laid.setGraph({
    rankdir: "LR",
    nodesep: 20,
    edgesep: 14,
    ranksep: RANK_GAP,
    marginx: 10,
    marginy: 10,
  });
  if (stages.length > 1) stages.forEach((stage, at) => laid.setNode(`stage ${at}`, {}));
  const numbers = new Map(components.map(({ name }, at) => [name, String(at)]));
  for (const { name, stage } of components) {
    const number = numbers.get(name) ?? "";
    laid.setNode(number, { ...size });
    if (stages.length > 1) laid.setParent(number, `stage ${stages.indexOf(stage)}`);
  }
  arrows.forEach(({ from, to, kind }, at) => {
    const weight = kind === "hard" ? 3 : 1;
    laid.setEdge(numbers.get(from) ?? "", numbers.get(to) ?? "", { weight }, String(at));
  });
  dagre.layout(laid);
  const boxes = components.map(({ name, stage }): Box => {
    const { x, y } = laid.node(numbers.get(name) ?? "");
    return { name, stage, x, y };
  });
  const routes = arrows.map((arrow, at): Route => {
    const ends = { v: numbers.get(arrow.from) ?? "", w: numbers.get(arrow.to) ?? "" };
    return { ...arrow, points: laid.edge({ ...ends, name: String(at) }).points };
  });
  const { width = 0, height = 0 } = laid.graph();
  const flat: Layout = { width, height, boxes, bands: [], routes };
  const stacked = stages.length > 1 ? stackStages(flat, stages, size) : flat;
  return { ...stacked, routes: placeEnds(stacked.routes, stacked.boxes, size) };
}
