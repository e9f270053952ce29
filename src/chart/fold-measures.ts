import { ProbelabError } from "../base/error.js";
import { columnValues, newTable } from "../result/arquero-table.js";
import type { MeasureColumn } from "../result/origin.js";
import type { Result } from "../result/result.js";
import { uniqueLabels } from "../render/label.js";
import type { DrawOptions, FlatOptions } from "./options.js";
import { chartRoles, checkColumn, list, unusedName, type Kind } from "./roles.js";

/**
 * A Result whose measures `y` stand below each other in one column, with another that names them: a
 * series each. With one measure it stays as it is.
 *
 * @throws ProbelabError for measures of different units, which have no axis in common.
 */
export function foldMeasures(
  result: Result,
  kind: Kind,
  { y, ...options }: FlatOptions,
): { result: Result; options: DrawOptions } {
  const names = [...new Set([y ?? []].flat())];
  const [first] = names;
  if (names.length < 2) return { result, options: { ...options, ...(first && { y: first }) } };
  for (const name of names) checkColumn(result.columnNames(), name, `draw ${kind.drawn} with y: `);
  const { columns } = result.origin;
  const measures = names.map((name) => columns.measures.find((each) => each.name === name));
  const known = measures.filter((measure) => measure !== undefined);
  const units = [...new Set(known.map(({ unit }) => unit))];
  if (units.length > 1) {
    throw new ProbelabError(
      `Can't draw ${list(names)} along one axis: they are of ${units.map((unit) => unit || "no unit").join(" and ")}; draw a chart of each.`,
    );
  }
  const roles = chartRoles(result, kind, { ...options, y: first! });
  const labels = names.map((name, at) => measures[at]?.label ?? name);
  const common = commonStart(labels);
  const texts = uniqueLabels(labels.map((label) => label.slice(common.length)));
  const [name, value] = ["measure", "value"].map((each) => unusedName(result.columnNames(), each));
  const kept = result.columnNames().filter((each) => !names.includes(each));
  const table = newTable(result.table, [
    ...kept.map((each): [string, unknown] => {
      const values = columnValues(result.table, each);
      return [each, names.flatMap(() => values)];
    }),
    [name!, texts.flatMap((text) => Array<string>(result.numRows()).fill(text))],
    [value!, names.flatMap((each) => columnValues(result.table, each))],
  ]);
  const folded: MeasureColumn = {
    name: value!,
    label: common === "" ? labels.join(", ") : common.replace(/[\s,]+$/, ""),
    unit: units[0] ?? "",
    additive: known.every(({ additive }) => additive),
    missing: known.every(({ missing }) => missing === "zero") ? "zero" : "gap",
  };
  return {
    result: result.with(table, {
      columns: {
        ...columns,
        dimensions: [...columns.dimensions, { name: name!, order: texts }],
        measures: known.length < names.length ? [] : [folded],
      },
    }),
    options: {
      ...options,
      y: value!,
      color: [...roles.series.filter((each) => each !== options.facet), name!],
    },
  };
}

/** What all texts begin with, up to the end of a word: `Run duration, `. */
export function commonStart([first = "", ...others]: readonly string[]): string {
  const words = first.split(/(?<=\s)/);
  let start = "";
  for (const word of words.slice(0, -1)) {
    if (!others.every((text) => text.startsWith(start + word))) break;
    start += word;
  }
  return start;
}
