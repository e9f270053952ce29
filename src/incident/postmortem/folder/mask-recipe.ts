import type { Json } from "../../../result/json.js";
import type { Change } from "../secrets.js";
import { mapTexts } from "../secrets.js";

/**
 * A recipe for rows whose addresses are masked: all its texts changed, its columns called as the
 * rows' are now, also where a spec of Vega-Lite names them as paths (`a\.b`) or in expressions.
 *
 * @param renames the columns that have another name now.
 */
export function maskRecipe(
  recipe: Json,
  renames: ReadonlyMap<string, string>,
  change: Change,
): Json {
  const spec = isMembers(recipe) ? recipe["spec"] : undefined;
  const named: Change = (text) => renames.get(text) ?? change(text);
  if (spec === undefined) return mapTexts(recipe, named);
  return { spec: maskSpec(spec, renames, named, "") };
}

// Where Vega-Lite reads texts as paths to fields.
const PATHS = new Set(
  "field fields groupby fold flatten pivot lookup key impute on regression loess density quantile repeat row column".split(
    " ",
  ),
);

function maskSpec(
  value: Json,
  renames: ReadonlyMap<string, string>,
  change: Change,
  within: string,
): Json {
  if (typeof value === "string") {
    const isPath =
      PATHS.has(within) || (!renames.has(value) && renames.has(pathParts(value)[0] ?? ""));
    const path = isPath ? maskPath(value, change) : value;
    return path === value ? change(withNames(value, renames)) : path;
  }
  if (isList(value)) return value.map((each) => maskSpec(each, renames, change, within));
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      change(name),
      maskSpec(inner, renames, change, name),
    ]),
  );
}

function maskPath(path: string, change: Change): string {
  const parts = pathParts(path);
  const masked = parts.map(change);
  if (masked.every((part, at) => part === parts[at])) return path;
  return masked.map((part) => part.replace(/[.[\]\\'"]/g, "\\$&")).join(".");
}

/** `a.b`, `a\.b`, `["a.b"]`, `a[0]`: the names along a path. */
function pathParts(path: string): string[] {
  const parts = path.matchAll(/\[(["']?)(.*?)\1\]|((?:\\.|[^.[\\])+)/gs);
  return [...parts].map(([, , quoted, bare]) => quoted ?? bare?.replace(/\\(.)/gs, "$1") ?? "");
}

/** `datum.a` as `datum["b"]` where that is what the column is called now. */
function withNames(expression: string, renames: ReadonlyMap<string, string>): string {
  return expression.replace(/\bdatum\.([\p{L}_$][\p{L}\p{N}_$]*)/gu, (found, name: string) => {
    const now = renames.get(name);
    return now === undefined ? found : `datum[${JSON.stringify(now)}]`;
  });
}

const WRITTEN = new Set(["title", "subtitle", "caption", "label", "text"]);

/** What the analyst wrote in a recipe (titles, labels of marks) changed; the rest as it is. */
export function maskTitles(value: Json, change: Change, written = false): Json {
  if (typeof value === "string") return written ? change(value) : value;
  if (isList(value)) return value.map((each) => maskTitles(each, change, written));
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      maskTitles(inner, change, WRITTEN.has(name)),
    ]),
  );
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isMembers(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
