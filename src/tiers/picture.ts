import { createRequire } from "node:module";
import type * as Arquero from "arquero";
import { checkOptions, type Rules } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { cleanText, counted } from "../base/text.js";
import type { Chart } from "../chart/chart-value.js";
import { chart } from "../chart/chart.js";
import { specText } from "../render/label.js";
import { textWidth } from "../fonts/shipped-font.js";
import { THEMES, themeConfig, type ThemeName } from "../render/theme.js";
import { Result } from "../result/result.js";
import { nameText, RELATIONS, type Graph, type Relation } from "./graph.js";
import {
  arrowsOf,
  LABEL_HEIGHT,
  SMALL_SIZE,
  labelWidth,
  layoutGraph,
  rulesText,
  type Arrow,
  type Point,
  type Size,
} from "./layout.js";
import { summary, type TierReport } from "./report.js";

/** How a graph is drawn. */
export interface PictureOptions {
  /** Default `"light"`. */
  readonly theme?: ThemeName;
  /** Default `Tiers of ` and the file's name. */
  readonly title?: string;
}

const OPTIONS = {
  theme: { fits: (value) => value === "light" || value === "dark", pass: '"light" or "dark"' },
  title: { fits: (value) => typeof value === "string", pass: "a text" },
} satisfies Rules<PictureOptions>;

const MOST_COMPONENTS = 300;
const MOST_ARROWS = 1_600;

const require = createRequire(import.meta.url);

/** The graph as a chart, its rules as the report tells them. */
export function drawGraph(graph: Graph, report: TierReport, given: PictureOptions): Chart {
  checkOptions(given, OPTIONS, "draw a graph");
  const { size } = graph.components;
  const arrows = arrowsOf(graph);
  if (size > MOST_COMPONENTS || arrows.length > MOST_ARROWS) {
    const many =
      size > MOST_COMPONENTS ? counted(size, "component") : counted(arrows.length, "arrow");
    throw new ProbelabError(
      `Can't draw ${many}: a picture that can be read holds at most ${MOST_COMPONENTS} components and ${MOST_ARROWS.toLocaleString("en-US")} arrows; draw a part of the graph.`,
    );
  }
  const title = given.title ?? `Tiers of ${nameText(graph.source)}`;
  const heading = `${summary(report)}.`;
  const marked =
    report.broken.length === 0 ? [] : ["Thick arrows and frames break the rule that they name."];
  return chart.vegaLite(graphResult(graph, report), {
    ...pictureSpec(graph, arrows, report, given.theme ?? "light"),
    description: describe(`${title}: ${heading}`, report),
    title: { text: title, subtitle: [heading, ...marked] },
  });
}

// Sizes in pixels.
const NAME_SIZE = 12;
const WIDEST_NAME = 240;
const BADGE = 30;
const PADDING = 9;
const HEAD = 8;

// Okabe and Ito's colours with a number that can be read on each; of tiers 1 to 4, and 5 and up.
const COLOURS = {
  light: {
    tiers: ["#b84a00", "#e69f00", "#56b4e9", "#00785a", "#b9bfc6"],
    numbers: ["#ffffff", "#000000", "#000000", "#ffffff", "#000000"],
    broken: "#c1006e",
    band: "#f5f6f8",
  },
  dark: {
    tiers: ["#d55e00", "#e69f00", "#56b4e9", "#009e73", "#98a1ab"],
    numbers: ["#000000", "#000000", "#000000", "#000000", "#000000"],
    broken: "#ff7ac0",
    band: "#1b2026",
  },
} as const;

const DASHES: Readonly<Record<Relation, readonly number[] | undefined>> = {
  hard: undefined,
  soft: [6, 4],
  data: [1.5, 3.5],
  "failover or pair": [9, 3, 2, 3],
  "part or member": [3, 2],
};

/** A shape of the picture: an SVG path and how it is painted. */
interface Shape {
  readonly path: string;
  readonly fill?: string;
  readonly stroke?: string;
  readonly width?: number;
  readonly dash?: readonly number[] | undefined;
}

/** Vega-Lite in pixels: layers of SVG paths, and the texts above them. */
function pictureSpec(
  graph: Graph,
  arrows: readonly Arrow[],
  report: TierReport,
  name: ThemeName,
): Record<string, unknown> {
  const theme = THEMES[name];
  const colours = COLOURS[name];
  const size = boxSize(graph);
  const { width, height } = size;
  const layout = layoutGraph(graph, arrows, report.broken, size);
  const tiers = new Map(report.reviews.map(({ component, tier }) => [component, tier]));
  const words: object[] = [];
  const say = (
    text: string,
    { x, y }: Point,
    colour: string,
    fontSize: number,
    style: { readonly bold?: true; readonly align?: "center" | "right" } = {},
  ): void => {
    if (text !== "") words.push({ text, x, y, colour, size: fontSize, ...style });
  };

  const lines = layout.bands.map((band): Shape => {
    const [left, top] = [band.x - band.width / 2, band.y - band.height / 2];
    // Above the area, where no box can be.
    say(cleanText(band.stage, 60), { x: left, y: top - 8 }, theme.muted, 12);
    return { path: rectangle(left, top, band.width, band.height, 6), fill: colours.band };
  });
  // What is broken is painted over the rest.
  const routes = [...layout.routes].sort((a, b) => a.rules.length - b.rules.length);
  for (const { relation, rules, points } of routes) {
    const [broken, headed] = [rules.length > 0, relation !== "part or member"];
    const stroke = broken ? colours.broken : theme.muted;
    const { x, y } = points.at(-1) ?? { x: 0, y: 0 };
    const back = Math.sign(x - (points.at(-2)?.x ?? 0)) * (headed ? HEAD : 0);
    const path = curve([...points.slice(0, -1), { x: x - back, y }]);
    lines.push({ path, stroke, width: broken ? 3 : 1.3, dash: DASHES[relation] });
    const half = broken ? 5.5 : 4;
    if (headed) lines.push({ path: `M${x},${y}l${-back},${-half}v${2 * half}Z`, fill: stroke });
  }

  const boxes = layout.boxes.flatMap(({ name, stage, x, y, rules }): Shape[] => {
    const written = graph.components.get(name)?.tier ?? 0;
    const tier = tiers.get(name) ?? written;
    const [left, top, paint] = [x - width / 2, y - height / 2, Math.min(tier, 5) - 1];
    const textLeft = left + BADGE + PADDING;
    if (tier === written) {
      say(shownName(name), { x: textLeft, y }, theme.text, NAME_SIZE, { bold: true });
    } else {
      say(shownName(name), { x: textLeft, y: y - 7 }, theme.text, NAME_SIZE, { bold: true });
      say(`tier ${written} as written`, { x: textLeft, y: y + 7 }, theme.muted, SMALL_SIZE);
    }
    const badge = { x: left + BADGE / 2, y };
    say(String(tier), badge, colours.numbers[paint] ?? "", 15, { bold: true, align: "center" });
    const corner = { x: left + width - 8, y: top - 10 };
    say(rulesText(rules), corner, colours.broken, SMALL_SIZE, { bold: true, align: "right" });
    const about = { name: cleanText(name, 120), stage: cleanText(stage, 60), tier, written };
    const [whole, broken] = [rectangle(left, top, width, height, 5), rules.length > 0];
    return [
      { path: whole, fill: theme.background },
      { path: rectangle(left, top, BADGE, height, 5), fill: colours.tiers[paint] ?? "" },
      { path: whole, stroke: broken ? colours.broken : theme.axis, width: broken ? 3 : 1 },
    ].map((shape) => ({ ...shape, ...about, rules: rules.join(", ") }));
  });

  const labels = routes.flatMap(({ rules, label }): Shape[] => {
    if (rules.length === 0) return [];
    say(rulesText(rules), label, colours.broken, SMALL_SIZE, { bold: true, align: "center" });
    const wide = labelWidth(rules);
    const [left, top] = [label.x - wide / 2, label.y - LABEL_HEIGHT / 2];
    const path = rectangle(left, top, wide, LABEL_HEIGHT, 8);
    return [{ path, fill: theme.background, stroke: colours.broken, width: 1 }];
  });

  // What the colours and the dashes mean, below the graph.
  let [right, bottom] = [0, layout.height];
  const legend = (
    title: string,
    entries: readonly (readonly [string, number, Shape["path"], Omit<Shape, "path">])[],
  ): void => {
    if (entries.length === 0) return;
    bottom += 24;
    say(title, { x: 10, y: bottom }, theme.muted, 11);
    let x = 90;
    for (const [text, wide, path, paint] of entries) {
      lines.push({ path: `M${x},${bottom}${path}`, ...paint });
      say(text, { x: x + wide + 6, y: bottom }, theme.text, 12);
      x += wide + textWidth(text, 12) + 26;
    }
    right = Math.max(right, Math.ceil(x));
  };
  const classes = [...new Set([...tiers.values()].map((tier) => Math.min(tier, 5)))].sort();
  legend(
    "Tier",
    classes.map((tier) => {
      const fill = colours.tiers[tier - 1] ?? "";
      return [tier === 5 ? "5 and up" : String(tier), 12, "m0,-6h12v12h-12Z", { fill }];
    }),
  );
  const shown = RELATIONS.filter((each) => routes.some(({ relation }) => relation === each));
  legend(
    "Dependency",
    shown.map((relation) => {
      const paint = { stroke: theme.muted, width: 1.5, dash: DASHES[relation] };
      return [relation, 32, "h32", paint];
    }),
  );

  return {
    width: Math.max(layout.width, right),
    height: bottom + 12,
    background: theme.background,
    config: themeConfig(theme),
    layer: [
      shapeLayer(lines),
      shapeLayer(boxes, ["name", "stage", "tier", "written", "rules"]),
      shapeLayer(labels),
      {
        data: { values: words },
        mark: {
          type: "text",
          baseline: "middle",
          align: { expr: "datum.align || 'left'" },
          fontWeight: { expr: "datum.bold ? 700 : 400" },
        },
        encoding: {
          x: { field: "x", type: "quantitative", scale: null, axis: null },
          y: { field: "y", type: "quantitative", scale: null, axis: null },
          text: { field: "text", type: "nominal" },
          color: { field: "colour", type: "nominal", scale: null },
          size: { field: "size", type: "quantitative", scale: null },
        },
      },
    ],
  };
}

/** A layer of SVG paths, which Vega-Lite takes for the shapes of points. */
function shapeLayer(values: readonly Shape[], told: readonly string[] = []): object {
  const field = (name: keyof Shape) => ({ field: name, type: "nominal", scale: null });
  return {
    data: { values },
    // Of this size a path's units are pixels.
    mark: { type: "point", size: 4, opacity: 1 },
    encoding: {
      x: { value: 0 },
      y: { value: 0 },
      shape: field("path"),
      fill: field("fill"),
      stroke: field("stroke"),
      strokeWidth: { ...field("width"), type: "quantitative" },
      strokeDash: field("dash"),
      ...(told.length > 0 && { tooltip: told.map((name) => ({ field: name })) }),
    },
  };
}

/** A rectangle with round corners. */
function rectangle(x: number, y: number, width: number, height: number, radius: number): string {
  const [w, h] = [width - 2 * radius, height - 2 * radius];
  const corner = (dx: number, dy: number): string => `a${radius},${radius} 0 0 1 ${dx},${dy}`;
  return `M${x + radius},${y}h${w}${corner(radius, radius)}v${h}${corner(-radius, radius)}h${-w}${corner(-radius, -radius)}v${-h}${corner(radius, -radius)}Z`;
}

/** A curve through all points, level at each. */
function curve(points: readonly Point[]): string {
  return points
    .map(({ x, y }, at) => {
      const before = points[at - 1];
      if (before === undefined) return `M${x},${y}`;
      const middle = (before.x + x) / 2;
      return `C${middle},${before.y} ${middle},${y} ${x},${y}`;
    })
    .join("");
}

/** One size for all boxes, that of the longest name within limits. */
function boxSize(graph: Graph): Size {
  const widest = Math.max(
    ...[...graph.components.keys()].map((name) => textWidth(shownName(name), NAME_SIZE, 700)),
    textWidth("tier 3 as written", SMALL_SIZE),
  );
  return { width: Math.ceil(BADGE + PADDING * 2 + widest), height: 42 };
}

/** A name as wide as a box may be; the end of a longer one is left out, a tooltip has it whole. */
function shownName(name: string): string {
  let text = cleanText(name, 120);
  while (textWidth(text, NAME_SIZE, 700) > WIDEST_NAME) text = `${text.slice(0, -2)}…`;
  return text;
}

/** A row per component: what the picture says, for tables and files. */
function graphResult(graph: Graph, report: TierReport): Result {
  // Loaded only where a picture is made, as everywhere.
  const aq = require("arquero") as typeof Arquero;
  const components = [...graph.components.values()];
  const tiers = new Map(report.reviews.map(({ component, tier }) => [component, tier]));
  const rows = components.map(({ name, stage, tier, hard, soft, receives, contains }) => {
    const broken = report.broken.filter(({ component }) => component === name);
    return {
      component: name,
      stage,
      tier: tiers.get(name) ?? tier,
      tier_as_written: tier,
      hard: hard.join(", "),
      soft: soft.join(", "),
      receives: receives.join(", "),
      contains: contains.join(", "),
      broken_rules: [...new Set(broken.map(({ rule }) => rule))].join(", "),
    };
  });
  // A graph has no span of time: it is as of an instant, told by the minute.
  const start = new Date(Math.floor(graph.asOf.getTime() / 60_000) * 60_000);
  return new Result(aq.from(rows), {
    sql: "",
    parameters: {},
    filter: `${graph.source} as written`,
    range: { start, end: new Date(start.getTime() + 1), timeZone: "UTC" },
    source: graph.source,
    server: "",
    rowsRead: components.length,
    bytesRead: 0,
    seconds: 0,
    askedAt: graph.asOf,
    columns: {
      dimensions: [{ name: "component", order: components.map(({ name }) => name) }],
      measures: [],
    },
    reductions: [],
    notes: [],
  });
}

/** The picture in words, for readers who don't see it. */
function describe(heading: string, { reviews, broken }: TierReport): string {
  const tiers = reviews.map(({ component, tier }) => `${nameText(component)} ${tier}`);
  const rules = broken.map(({ rule, message }) => `Rule ${rule}: ${message}`);
  return specText(cleanText([heading, ...rules, `Tiers: ${tiers.join(", ")}.`].join(" "), 4_000));
}
