import { RANK_GAP, type Box, type BoxSize, type Point, type Route } from "./picture-layout.js";

const STUB = 22;

/**
 * The ways with their ends at the boxes' left and right sides, spread along them in the order of
 * where they lead, so that no two meet in a point and no way runs under the box that it leaves.
 */
export function placeEnds(routes: readonly Route[], boxes: readonly Box[], size: BoxSize): Route[] {
  const places = new Map(boxes.map((box) => [box.name, box]));
  const sides = new Map<string, { route: number; end: "from" | "to"; toward: number }[]>();
  const side = (box: string, right: boolean): string => `${right ? "right" : "left"} ${box}`;
  const forward = routes.map(
    ({ from, to }) => (places.get(to)?.x ?? 0) >= (places.get(from)?.x ?? 0),
  );
  routes.forEach(({ from, to, points }, route) => {
    const ahead = forward[route] ?? true;
    const inner = points.slice(1, -1);
    const leaves = { route, end: "from" as const, toward: inner[0]?.y ?? 0 };
    const enters = { route, end: "to" as const, toward: inner.at(-1)?.y ?? 0 };
    for (const [key, end] of [
      [side(from, ahead), leaves],
      [side(to, !ahead), enters],
    ] as const) {
      sides.set(key, [...(sides.get(key) ?? []), end]);
    }
  });
  const shifts = new Map<string, number>();
  for (const ends of sides.values()) {
    const step = Math.min(10, (size.height - 16) / Math.max(1, ends.length - 1));
    [...ends]
      .sort((a, b) => a.toward - b.toward || a.route - b.route)
      .forEach(({ route, end }, at) => {
        shifts.set(`${end} ${route}`, (at - (ends.length - 1) / 2) * step);
      });
  }
  return routes.map((route, at) => {
    const [from, to] = [places.get(route.from), places.get(route.to)];
    if (from === undefined || to === undefined) return route;
    const ahead = forward[at] ? 1 : -1;
    const start = {
      x: from.x + (ahead * size.width) / 2,
      y: from.y + (shifts.get(`from ${at}`) ?? 0),
    };
    const end = { x: to.x - (ahead * size.width) / 2, y: to.y + (shifts.get(`to ${at}`) ?? 0) };
    // Between neighbouring layers nothing stands in the way.
    const near = Math.abs(end.x - start.x) < RANK_GAP * 2.2;
    const beside = (point: Point, by: number): Point => ({ x: point.x + by, y: point.y });
    return {
      ...route,
      points: [
        start,
        beside(start, ahead * STUB),
        ...(near ? [] : route.points.slice(1, -1)),
        beside(end, -ahead * STUB),
        end,
      ],
    };
  });
}
