import { createRequire } from "node:module";
import { ProbelabError } from "../../base/error.js";
import { redact } from "../../base/redact.js";
import { drawRecipe } from "../../chart/chart.js";
import { Chart } from "../../chart/chart-value.js";
import type { Recipe } from "../../chart/options.js";
import type { VegaLiteSpec } from "../../render/theme.js";
import { words } from "../../render/label.js";
import { table, Table } from "../../chart/table.js";
import type { TableOptions } from "../../chart/table-model.js";
import type { TableModel } from "../../render/table-outputs.js";
import type { Json } from "../../result/json.js";
import type { Result } from "../../result/result.js";
import { fromTaggedJson, toTaggedJson } from "../../result/json.js";
import type { Draft, FigureRecord, PostmortemRecord } from "./record.js";

const require = createRequire(import.meta.url);
/** The content of a figure. */
export type Content = Chart | Table;

/** A chart or a table of a postmortem, with its data. */
export interface Figure {
  readonly name: string;
  readonly caption: string;
  readonly content: Content;
}

/** The record of a figure, without its data. */
export function figureRecord({ name, caption, content }: Figure): FigureRecord {
  const recipe = content instanceof Chart ? content.recipe : content.options;
  return {
    name,
    kind: content instanceof Chart ? "chart" : "table",
    caption,
    recipe: JSON.parse(toTaggedJson(recipe)) as Json,
  };
}

/** The figure again, of its record and its data. @throws ProbelabError where that data can't be drawn so. */
export function drawFigure({ name, caption, kind, recipe }: FigureRecord, result: Result): Figure {
  const made = fromTaggedJson(JSON.stringify(recipe));
  const content =
    kind === "chart"
      ? drawRecipe(result, made as unknown as Recipe)
      : table(result, made as TableOptions);
  return { name, caption, content };
}

/** A chart's title, or a table's caption: what a figure is called where nobody named it. */
export function titleOf(content: Content): string {
  if (content instanceof Table) return tableTitle(content);
  const { title } = content.spec;
  const text = typeof title === "object" && title !== null && "text" in title ? title.text : title;
  return Array.isArray(text) ? text.join(" ") : typeof text === "string" ? text : "Chart";
}

/** The table for a place that says its caption already. */
export function captionless(model: TableModel, said: string): TableModel {
  return model.caption === said ? { ...model, caption: "" } : model;
}

/** The chart's spec for a place whose heading is its title already. */
export function untitled(spec: VegaLiteSpec): VegaLiteSpec {
  const { title, ...rest } = spec;
  if (typeof title !== "object" || title === null || !("subtitle" in title)) return rest;
  const { subtitle, ...look } = title;
  const config = spec.config as { title?: { subtitleColor?: string } } | undefined;
  const color = config?.title?.subtitleColor;
  const small = { fontSize: 12, fontWeight: "normal", lineHeight: 16, ...(color && { color }) };
  return { ...rest, title: { ...look, ...small, text: subtitle } };
}

/** Its own caption, or what it measures: `Runs by version`. */
function tableTitle({ options, model, origin: { columns } }: Table): string {
  const [measure] = columns.measures;
  if (options.caption !== undefined || measure === undefined) return model.caption;
  const by = [
    ...(columns.time ? [columns.time.every] : []),
    ...columns.dimensions.map(({ name }) => words(name)),
  ];
  return by.length === 0 ? measure.label : `${measure.label} by ${by.join(" and ")}`;
}

// Windows takes them for devices, whatever the extension: a repository with one can't be checked out.
const DEVICE = /^(?:con|prn|aux|nul|(?:com|lpt)\d)$/;

/** A name for a figure's files, made of a text, and of no other's. */
export function figureName(text: string, taken: ReadonlySet<string>, longest = 60): string {
  const whole = text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  const end = whole.length > longest ? whole.lastIndexOf("-", longest) : whole.length;
  const made = whole.slice(0, end > 0 ? end : longest) || "figure";
  const plain = DEVICE.test(made) ? `figure-${made}` : made;
  for (let count = 1; ; count++) {
    const name = count === 1 ? plain : `${plain}-${count}`;
    if (!taken.has(name)) return name;
  }
}

/**
 * A text as the address of a link: `http` or `https`, written as browsers send it, so that no quote,
 * space or other script in it ends it anywhere, without user name and password.
 *
 * @returns undefined where the text is no such address.
 */
export function webAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  url.username = "";
  url.password = "";
  const plain = redact(url.href);
  return URL.canParse(plain) ? new URL(plain).href.replaceAll("\\", "%5C") : undefined;
}

/** The record of a draft at a moment. @param draft masked already, where it has to be, as the figures. */
export function recordOf(
  draft: Draft,
  figures: readonly Figure[],
  savedAt: Date,
  masked: boolean,
): PostmortemRecord {
  if (savedAt.toISOString() < draft.detectedAt) {
    throw new ProbelabError(
      `Can't write a postmortem at ${savedAt.toISOString()} of an incident that was detected later, at ${draft.detectedAt}: correct detectedAt.`,
    );
  }
  const { version } = require("../../../package.json") as { version: string };
  return {
    format: "probelab postmortem 1",
    ...draft,
    figures: figures.map(figureRecord),
    // Nobody needs the time of saving to the millisecond.
    savedAt: new Date(Math.floor(savedAt.getTime() / 1000) * 1000).toISOString(),
    masked,
    versions: { probelab: version, node: process.versions.node },
  };
}
