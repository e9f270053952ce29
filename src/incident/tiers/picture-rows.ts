import { cleanText } from "../../chart/label.js";
import { textWidth } from "../../chart/render/font.js";
import { componentOf, type Graph } from "./graph.js";
import type { BoxSize, Layout, Point } from "./picture-layout.js";
import { marksOf } from "./picture-marks.js";
import { placeLabels, type LabelRow } from "./picture-labels.js";
import { NAME_SIZE, nameLines } from "./picture-names.js";
import type { TierReport } from "./report.js";

/** Rows of the picture's layers. */
export interface PictureRows {
  readonly boxes: readonly BoxRow[];
  readonly lines: readonly LineRow[];
  readonly heads: readonly HeadRow[];
  readonly labels: readonly LabelRow[];
}

export interface BoxRow {
  readonly name: string;
  readonly line1: string;
  readonly line2: string;
  readonly below: string;
  readonly tier: string;
  readonly class: string;
  readonly stage: string;
  readonly rules: string;
  readonly broken: boolean;
  readonly x: number;
  readonly y: number;
}

export interface LineRow extends Point {
  readonly edge: number;
  readonly at: number;
  readonly kind: string;
  readonly broken: boolean;
}

export interface HeadRow extends Point {
  readonly angle: number;
  readonly broken: boolean;
}

/** Room for the tier at the left of a box. */
export const BADGE = 30;
const HEAD = 8;
const PADDING = 9;
export const BELOW_SIZE = 10;

/** The legend's entry of a tier. */
function tierClass(tier: number): string {
  return tier > 4 ? "5 and up" : String(tier);
}

/** One size for all boxes, that of the longest name within limits. */
export function boxSize(graph: Graph): BoxSize {
  const wrapped = [...graph.components.keys()].map((name) => nameLines(name));
  const widest = Math.max(
    ...wrapped.flat().map((line) => textWidth(line, NAME_SIZE, 700)),
    textWidth("tier 3 as written", BELOW_SIZE),
  );
  const tall = wrapped.some(([, second]) => second !== "");
  return { width: Math.ceil(BADGE + PADDING * 2 + widest), height: tall ? 54 : 42 };
}

/** Everything that is drawn, in pixels. */
export function pictureRows(
  graph: Graph,
  report: TierReport,
  layout: Layout,
  size: BoxSize,
): PictureRows {
  const marks = marksOf(report.broken, layout.routes);
  const tiers = new Map(report.reviews.map(({ component, tier }) => [component, tier]));
  const marked: { rules: number[]; points: readonly Point[] }[] = [];
  const lines: LineRow[] = [];
  const heads: HeadRow[] = [];
  layout.routes.forEach((route, edge) => {
    const rules = [...(marks.arrows.get(edge) ?? [])];
    const broken = rules.length > 0;
    const kind = route.kind;
    const { points, head } = withHead(route.points);
    const headed = kind !== "part or member";
    (headed ? points : route.points).forEach((point, at) =>
      lines.push({ edge, at, kind, broken, ...rounded(point) }),
    );
    if (headed) heads.push({ ...head, broken });
    if (broken) marked.push({ rules, points });
  });
  return {
    boxes: layout.boxes.map(({ name, stage, x, y }) => {
      const written = componentOf(graph, name).tier;
      const tier = tiers.get(name) ?? written;
      const rules = [...(marks.boxes.get(name) ?? [])].sort();
      const [line1, line2] = nameLines(name);
      return {
        name: cleanText(name, 120),
        line1,
        line2,
        below: tier === written ? "" : `tier ${written} as written`,
        tier: String(tier),
        class: tierClass(tier),
        stage: cleanText(stage, 60),
        rules: rules.length === 0 ? "" : `rule ${rules.join(", ")}`,
        broken: rules.length > 0,
        ...rounded({ x, y }),
      };
    }),
    lines,
    heads,
    labels: placeLabels(marked, layout.boxes, size),
  };
}

/** The way cut where its arrow head begins. */
function withHead(points: readonly Point[]): { points: Point[]; head: Point & { angle: number } } {
  const tip = points.at(-1) ?? { x: 0, y: 0 };
  const before = points.at(-2) ?? tip;
  const [dx, dy] = [tip.x - before.x, tip.y - before.y];
  const length = Math.hypot(dx, dy) || 1;
  const back = (by: number): Point => ({
    x: tip.x - (dx / length) * by,
    y: tip.y - (dy / length) * by,
  });
  return {
    points: [...points.slice(0, -1), back(HEAD)],
    head: {
      ...rounded(back(HEAD / 2)),
      angle: Math.round((Math.atan2(dy, dx) * 180) / Math.PI + 90),
    },
  };
}

function rounded({ x, y }: Point): Point {
  return { x: Math.round(x * 10) / 10, y: Math.round(y * 10) / 10 };
}
