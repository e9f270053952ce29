import { MOST_ROWS } from "../../base/limits.js";
import { createRequire } from "node:module";
import type * as Arquero from "arquero";
import { checkOptions, type Rules } from "../../base/check-options.js";
import { CHART_RULES } from "../../chart/options.js";
import type { Chart } from "../../chart/chart-value.js";
import { chart } from "../../chart/chart.js";
import { cleanText, specText } from "../../chart/label.js";
import type { ThemeName } from "../../chart/theme.js";
import { ProbelabError } from "../../base/error.js";
import { Result } from "../../result/result.js";
import { shown } from "../shown.js";
import type { Graph } from "./graph.js";
import { arrowsOf } from "./picture-edges.js";
import { layoutGraph } from "./picture-layout.js";
import { boxSize, pictureRows } from "./picture-rows.js";
import { pictureSpec } from "./picture-spec.js";
import type { TierReport } from "./report.js";
import { nameText, summary } from "./report-text.js";

/** How a graph is drawn. */
export interface PictureOptions {
  /** Default `"light"`. */
  readonly theme?: ThemeName;
  /** Default `Tiers of ` and the file's name. */
  readonly title?: string;
}

const RULES = {
  theme: CHART_RULES.theme,
  title: CHART_RULES.title,
} satisfies Rules<PictureOptions>;

const MOST_DRAWN = 300;

const require = createRequire(import.meta.url);

/** The graph as a chart, its rules as the report tells them. */
export function drawGraph(graph: Graph, report: TierReport, options: PictureOptions): Chart {
  checkOptions(options, RULES, "draw a graph");
  const { size: components } = graph.components;
  if (components > MOST_DRAWN) throw tooMany(`${components.toLocaleString("en-US")} components`);
  const size = boxSize(graph);
  const arrows = arrowsOf(graph);
  if (arrows.length * 3 > MOST_ROWS)
    throw tooMany(`${arrows.length.toLocaleString("en-US")} arrows`);
  const layout = layoutGraph(graph, arrows, size);
  const rows = pictureRows(graph, report, layout, size);
  const drawn = rows.boxes.length + rows.lines.length + rows.heads.length;
  if (drawn > MOST_ROWS) throw tooMany(`${arrows.length.toLocaleString("en-US")} arrows`);
  const spec = pictureSpec(layout, rows, size, options.theme ?? "light");
  const heading = `${summary(report)}.`;
  const title = options.title ?? `Tiers of ${nameText(graph.source)}`;
  const marks =
    report.broken.length === 0 ? [] : ["Thick arrows and frames break the rule that they name."];
  return chart.vegaLite(graphResult(graph, report), {
    ...spec,
    description: describe(title, heading, graph, report),
    title: { text: title, subtitle: [heading, ...marks] },
  });
}

function tooMany(what: string): ProbelabError {
  return new ProbelabError(
    `Can't draw ${what}: a picture that can be read holds at most ${MOST_DRAWN} components and fewer than 5,000 rows; draw a part of the graph.`,
  );
}

/** A row per component: what the picture says, for tables and files. */
function graphResult(graph: Graph, report: TierReport): Result {
  // Loaded only where a picture is made, as everywhere.
  const aq = require("arquero") as typeof Arquero;
  const components = [...graph.components.values()];
  const tiers = new Map(report.reviews.map(({ component, tier }) => [component, tier]));
  const rules = (name: string): string =>
    [
      ...new Set(report.broken.filter((each) => each.component === name).map(({ rule }) => rule)),
    ].join(", ");
  const list = (names: readonly string[]): string => names.join(", ");
  const table = aq.table({
    component: components.map(({ name }) => name),
    stage: components.map(({ stage }) => stage),
    tier: components.map(({ name, tier }) => tiers.get(name) ?? tier),
    tier_as_written: components.map(({ tier }) => tier),
    hard: components.map(({ hard }) => list(hard)),
    soft: components.map(({ soft }) => list(soft)),
    receives: components.map(({ receives }) => list(receives)),
    contains: components.map(({ contains }) => list(contains)),
    broken_rules: components.map(({ name }) => rules(name)),
  });
  // A graph has no span of time: it is as of an instant, told by the minute.
  const start = new Date(Math.floor(graph.asOf.getTime() / 60_000) * 60_000);
  return new Result(table, {
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

const DESCRIBED = 40;

function describe(title: string, heading: string, graph: Graph, report: TierReport): string {
  const told = report.reviews
    .slice(0, DESCRIBED)
    .map(({ component, tier }) => `${nameText(component)} ${tier}`);
  const more = report.reviews.length - told.length;
  return specText(
    cleanText(
      [
        `${title}: ${heading}`,
        `Stages: ${graph.stages.map((stage) => shown(stage, 40).slice(1, -1)).join(", ")}.`,
        `Tiers: ${told.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`,
        ...report.broken.slice(0, 10).map(({ rule, message }) => `Rule ${rule}: ${message}`),
      ].join(" "),
      4_000,
    ),
  );
}
