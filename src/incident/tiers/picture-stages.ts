import type { Band, BoxSize, Layout, Point } from "./picture-layout.js";

/** Room for a stage's name above its boxes, around them, and between stages. */
const HEADING = 30;
const PADDING = 16;
const GAP = 16;

/**
 * The stages below each other, the first on top, each over the whole width: every stage is moved as
 * it is, up or down; a way between two stages is bent along.
 */
export function stackStages(layout: Layout, stages: readonly string[], size: BoxSize): Layout {
  const stageOf = new Map(layout.boxes.map(({ name, stage }) => [name, stage]));
  const moves = new Map<string, number>();
  const bands: Band[] = [];
  let top = 0;
  for (const stage of stages) {
    const heights = [
      ...layout.boxes
        .filter((box) => box.stage === stage)
        .flatMap(({ y }) => [y - size.height / 2, y + size.height / 2]),
      ...layout.routes
        .filter(({ from, to }) => [from, to].every((name) => stageOf.get(name) === stage))
        .flatMap(({ points }) => points.slice(1, -1).map(({ y }) => y)),
    ];
    const [from, to] = [Math.min(...heights), Math.max(...heights)];
    const height = HEADING + to - from + PADDING;
    moves.set(stage, top + HEADING - from);
    bands.push({ stage, x: 0, y: top, width: layout.width, height });
    top += height + GAP;
  }
  const moveOf = (name: string): number => moves.get(stageOf.get(name) ?? "") ?? 0;
  return {
    ...layout,
    height: top - GAP,
    bands,
    boxes: layout.boxes.map((box) => ({ ...box, y: box.y + moveOf(box.name) })),
    routes: layout.routes.map((route) => {
      const [first, last] = [moveOf(route.from), moveOf(route.to)];
      const steps = Math.max(1, route.points.length - 1);
      const points = route.points.map(({ x, y }, at): Point => ({
        x,
        y: y + first + ((last - first) * at) / steps,
      }));
      return { ...route, points };
    }),
  };
}
