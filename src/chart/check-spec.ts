import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { shownValue } from "../base/text.js";
import { checkColumn, list } from "./roles.js";

/** Vega-Lite's marks; see https://vega.github.io/vega-lite/docs/mark.html */
const MARKS =
  "arc area bar boxplot circle errorband errorbar geoshape image line point rect rule square text tick trail".split(
    " ",
  );
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

/** @throws ProbelabError for what Vega would draw as "undefined", load, or fill all memory with. */
export function checkSpec(spec: unknown, names: readonly string[]): void {
  if (!isPart(spec)) {
    throw new ProbelabError(
      `Can't draw ${spec === undefined ? "without a Vega-Lite spec" : `${shownValue(spec)} as a Vega-Lite spec`}: pass an object, chart.vegaLite(result, ${SUCH}).`,
    );
  }
  if (
    !["mark", "spec", "layer", "concat", "hconcat", "vconcat"].some((name) =>
      Object.hasOwn(spec, name),
    )
  ) {
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
    if (name === "url") {
      throw new ProbelabError(
        `Can't draw a spec with url: ${shownValue(value)}: nothing is loaded, so no pictures are drawn; use another mark, such as "text" or "point".`,
      );
    }
    // vega-tooltip shows what a tooltip calls "image" as a picture, which it loads.
    if (name === "tooltip" && names.includes("image")) {
      throw new ProbelabError(
        'Can\'t show the column "image" in tooltips: notebooks would load its values as pictures; name it otherwise in the query (image AS picture), or leave tooltip out.',
      );
    }
  }
  // The spec's own data is left out.
  checkParts({ ...spec, data: undefined }, names, false);
}

/** What holds other names than views do: rows, looks, selections. */
const NO_VIEW = /^(data|datasets|values|usermeta|config|params|scale)$/;

/** @param free whether the fields may be others than the columns. */
function checkParts(part: unknown, names: readonly string[], free: boolean): void {
  if (Array.isArray(part)) return part.forEach((each) => checkParts(each, names, free));
  if (!isPart(part)) return;
  const own = free || makesFields(part);
  for (const [name, inner] of Object.entries(part)) {
    if (NO_VIEW.test(name)) continue;
    if (name === "mark") checkMark(inner);
    if (name === "field" && typeof inner === "string" && inner !== "*" && !own) {
      checkColumn(names, columnOf(inner), "draw a spec with field: ");
    }
    // What a view hands down may be meant for a part that makes it.
    const handed =
      name === "encoding" &&
      specParts(part).some(([, each]) =>
        [each].flat().some((one) => isPart(one) && makesFields(one)),
      );
    checkParts(inner, names, own || handed);
  }
}

function checkMark(mark: unknown): void {
  const type = isPart(mark) ? mark.type : mark;
  if (typeof type === "string" && MARKS.includes(type)) return;
  const near = typeof type === "string" ? nearName(type, MARKS) : undefined;
  throw new ProbelabError(
    `Can't draw a spec with mark: ${shownValue(type)}: ${near === undefined ? "pass" : `did you mean "${near}"? Pass`} one of ${list(MARKS)}.`,
  );
}

function makesFields({ data, transform }: Part): boolean {
  const steps = Array.isArray(transform) ? (transform as unknown[]) : [];
  return (
    isPart(data) || steps.some((step) => !isPart(step) || !("filter" in step || "sample" in step))
  );
}

/** The column that a field's path begins with: `a` of `a.b` and `a[0]`, `a.b` of `a\.b` and `["a.b"]`. */
export function columnOf(field: string): string {
  const found = /^\[(["']?)(.*?)\1\]|^((?:\\.|[^.[\\])+)/.exec(field);
  return (found?.[2] ?? found?.[3] ?? field).replace(/\\(.)/g, "$1");
}

/** All named parts of a spec, at whatever depth, without its rows. */
function specParts(value: unknown): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]): [string, unknown][] =>
    /^(values|datasets|sequence|usermeta)$/.test(name) ? [] : [[name, inner], ...specParts(inner)],
  );
}

export function isPart(value: unknown): value is Part {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
