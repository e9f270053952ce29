import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { shownValue } from "../base/text.js";
import type { VegaLiteSpec } from "./options.js";
import { isPictureAddress } from "./render/inert-loader.js";
import { checkColumn, list } from "./roles.js";

/** Vega-Lite's marks; see https://vega.github.io/vega-lite/docs/mark.html */
const MARKS =
  "arc area bar boxplot circle errorband errorbar geoshape image line point rect rule square text tick trail".split(
    " ",
  );
const COMPOSED = ["layer", "concat", "hconcat", "vconcat"] as const;
const SUCH = '{ mark: "bar", encoding: { x: { field: "t", type: "temporal" } } }';

/** The most that is drawn: of pixels along a side, of ticks on an axis. More takes all memory. */
const MOST: Readonly<Record<string, number>> = {
  width: 20_000,
  height: 20_000,
  step: 20_000,
  tickCount: 2_000,
  maxbins: 10_000,
};

type Part = Readonly<Record<string, unknown>>;

/**
 * Says what Vega would only say when it draws, in words of its own, or not at all: a field that is
 * no column is drawn as "undefined".
 *
 * @param names the columns of the Result. Where a part of the spec has data of its own, or a
 *   transform that makes fields, its fields may be others.
 * @throws ProbelabError for no spec, an unknown mark, a field that nothing could have made, data that
 *   would be loaded, or sizes that take all memory.
 */
export function checkSpec(spec: unknown, names: readonly string[]): void {
  if (!isPart(spec)) {
    throw new ProbelabError(
      `Can't draw ${spec === undefined ? "without a Vega-Lite spec" : `${shownValue(spec)} as a Vega-Lite spec`}: pass an object, chart.vegaLite(result, ${SUCH}).`,
    );
  }
  if (!["mark", "spec", ...COMPOSED].some((name) => Object.hasOwn(spec, name))) {
    throw new ProbelabError(
      `Can't draw a Vega-Lite spec without a mark: pass one, chart.vegaLite(result, ${SUCH}).`,
    );
  }
  for (const [name, value] of specParts(spec)) {
    const most = Object.hasOwn(MOST, name) ? MOST[name] : undefined;
    if (most !== undefined && typeof value === "number" && !(value <= most)) {
      throw new ProbelabError(
        `Can't draw a spec with ${name}: ${value}: pass ${most.toLocaleString("en-US")} at most.`,
      );
    }
    if (/^(data|from)$/.test(name) && isPart(value) && typeof value.url === "string") {
      throw new ProbelabError(
        `Can't draw a spec that loads its data from ${JSON.stringify(value.url.slice(0, 200))}: query it first, and pass the Result.`,
      );
    }
  }
  // The spec's own data is left out.
  checkView({ ...spec, data: undefined }, names, false);
}

/** @param free whether the fields may be others than the columns. */
function checkView(view: Part, names: readonly string[], free: boolean): void {
  if (Object.hasOwn(view, "mark")) checkMark(view.mark);
  const own = free || makesFields(view);
  const inner = views(view);
  // What a view hands down may be meant for a part that makes it.
  if (!own && !inner.some(makesFieldsWithin)) {
    for (const [channel, field] of fields(view)) {
      if (field !== "*") checkColumn(names, columnOf(field), `draw a spec with ${channel}: `);
    }
  }
  for (const part of inner) checkView(part, names, own);
}

function checkMark(mark: unknown): void {
  const type = isPart(mark) ? mark.type : mark;
  if (typeof type === "string" && MARKS.includes(type)) return;
  const near = typeof type === "string" ? nearName(type, MARKS) : undefined;
  throw new ProbelabError(
    `Can't draw a spec with mark: ${shownValue(type)}: ${near === undefined ? "pass" : `did you mean "${near}"? Pass`} one of ${list(MARKS)}.`,
  );
}

/** The views that a view is composed of. */
function views(view: Part): Part[] {
  return [view.spec, ...COMPOSED.flatMap((name) => view[name])].filter(isPart);
}

function makesFieldsWithin(view: Part): boolean {
  return makesFields(view) || views(view).some(makesFieldsWithin);
}

function makesFields({ data, transform }: Part): boolean {
  const steps = Array.isArray(transform) ? (transform as unknown[]) : [];
  return (
    isPart(data) || steps.some((step) => !isPart(step) || !("filter" in step || "sample" in step))
  );
}

/** The fields that a view's channels name, with the channel. */
function fields({ encoding, facet }: Part): [string, string][] {
  const channels = isPart(encoding) ? Object.entries(encoding) : [];
  return [...channels, ["facet", facet] as const].flatMap(([channel, given]) => {
    const parts = [given].flat().filter(isPart);
    const inner = parts.flatMap(({ condition, sort, row, column }) => [
      condition,
      sort,
      ...(channel === "facet" ? [row, column] : []),
    ]);
    return [...parts, ...inner.flat().filter(isPart)].flatMap(({ field }): [string, string][] =>
      typeof field === "string" ? [[channel, field]] : [],
    );
  });
}

/** The column that a field's path begins with: `a` of `a.b` and `a[0]`, `a.b` of `a\.b` and `["a.b"]`. */
function columnOf(field: string): string {
  const found = /^\[(["']?)(.*?)\1\]|^((?:\\.|[^.[\\])+)/.exec(field);
  return (found?.[2] ?? found?.[3] ?? field).replace(/\\(.)/g, "$1");
}

/**
 * The columns that a spec draws as pictures: of their values only those that hold the picture itself
 * (`data:image/…`) may stand in the data, as a notebook's own Vega loads any other.
 *
 * @throws ProbelabError where the spec would load a picture from an address, or where tooltips
 *   would take a column for the address of one.
 */
export function pictureColumns(spec: VegaLiteSpec, names: readonly string[]): Set<string> {
  const pictures = new Set<string>();
  const parts = specParts(spec);
  for (const [, url] of parts.filter(([name]) => name === "url")) {
    for (const [name, value] of [["value", url] as const, ...specParts(url)]) {
      const loads =
        /^(value|datum)$/.test(name) && typeof value === "string" && !isPictureAddress(value);
      if (name === "field" && typeof value === "string" && names.includes(value)) {
        pictures.add(value);
      } else if (/^(field|expr|signal)$/.test(name) || loads) {
        throw new ProbelabError(
          `Can't draw a picture from ${JSON.stringify(value)?.slice(0, 200)}: only pictures that stand in a column of the Result are drawn, as "data:image/png;base64,…".`,
        );
      }
    }
  }
  // vega-tooltip shows what a tooltip calls "image" as a picture, which it loads.
  if (names.includes("image") && parts.some(([name]) => name === "tooltip")) {
    throw new ProbelabError(
      'Can\'t show the column "image" in tooltips: notebooks would load its values as pictures; name it otherwise in the query (image AS picture), or leave tooltip out.',
    );
  }
  return pictures;
}

/** All named parts of a spec, at whatever depth, without its rows. */
function specParts(value: unknown): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]): [string, unknown][] =>
    /^(values|datasets|sequence|usermeta)$/.test(name) ? [] : [[name, inner], ...specParts(inner)],
  );
}

function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
