import { ProbelabError } from "../base/error.js";
import { counted, grouped } from "../base/text.js";
import { columnValues, newTable, rowKeys, rowsByKey } from "./arquero-table.js";
import type { MeasureColumn, Origin } from "./origin.js";
import type { Rows } from "./changed.js";

/**
 * The rows of one Result with the columns of another beside them, by the time and the dimensions that
 * both have. Every row stays; where the other has none its columns are null.
 *
 * @throws ProbelabError for Results without a common column, of other buckets, or with several rows for one.
 */
export function joined(
  one: Rows,
  other: Rows,
  names: { readonly on?: readonly string[] },
): { table: Rows["table"]; origin: Partial<Origin> } {
  const [mine, theirs] = [one.origin.columns, other.origin.columns];
  const refusal = (why: string): ProbelabError => new ProbelabError(`Can't join: ${why}.`);
  const groupsOf = ({ time, dimensions }: typeof mine): string[] => [
    ...(time ? [time.name] : []),
    ...dimensions.map(({ name }) => name),
  ];
  const [groups, otherGroups] = [groupsOf(mine), groupsOf(theirs)];
  const known = (rows: Rows): string => rows.table.columnNames().join(", ");
  const on = names.on ?? groups.filter((name) => otherGroups.includes(name));
  const missing = on.find(
    (name) => ![one, other].every(({ table }) => table.columnNames().includes(name)),
  );
  if (on.length === 0 || missing !== undefined) {
    throw refusal(
      `${missing === undefined ? "no time or dimension is in both" : `${missing} isn't in both`}; one has ${known(one)}, the other ${known(other)}. Name your own rows' columns with rows(…, { t: "day", probe_cc: "dimension" }), or pass on: ["probe_cc"]`,
    );
  }
  const [every, otherEvery] = [mine.time?.every, theirs.time?.every];
  if (mine.time && on.includes(mine.time.name) && otherEvery && every !== otherEvery) {
    throw refusal(`one is by ${every}, the other by ${otherEvery}; ask both with the same every`);
  }
  const added = other.table.columnNames().filter((name) => !on.includes(name));
  const taken = added.find((name) => one.table.columnNames().includes(name));
  if (taken !== undefined) {
    throw refusal(
      `both have a column ${taken}; rename one, other.with((table) => table.rename({ ${taken}: "${taken}_other" }))`,
    );
  }
  const theirRows = rowsByKey(rowKeys(other.table, on));
  const several = [...theirRows.values()].filter(({ length }) => length > 1);
  if (several.length > 0) {
    throw refusal(
      `the other has several rows for ${counted(several.length, "place")} of ${on.join(", ")}, so rows would be counted more than once; add them up first, or join on more columns`,
    );
  }
  const keys = rowKeys(one.table, on);
  const matches = keys.map((key) => theirRows.get(key)?.[0]);
  const table = newTable(one.table, [
    ...one.table
      .columnNames()
      .map((name): [string, unknown] => [name, columnValues(one.table, name)]),
    ...added.map((name): [string, unknown] => {
      const values = columnValues(other.table, name);
      return [name, matches.map((row) => (row === undefined ? null : (values[row] ?? null)))];
    }),
  ]);
  // A value that stands in several rows must not be added up over them.
  const whole = new Set(keys).size === keys.length;
  const measures = theirs.measures.map(({ main: _, ...measure }): MeasureColumn => {
    return { ...measure, missing: "gap", additive: measure.additive && whole };
  });
  const unmatched = matches.filter((row) => row === undefined).length;
  const unused = other.table.numRows() - new Set(matches.filter((row) => row !== undefined)).size;
  const said = [
    `Joined by ${on.join(", ")}: ${added.join(", ")} (${other.origin.source})`,
    ...(unmatched > 0 ? [`none for ${grouped(unmatched)} of ${counted(keys.length, "row")}`] : []),
    ...(unused > 0 ? [`${counted(unused, "row")} of it in no place of these`] : []),
  ];
  return {
    table,
    origin: {
      columns: { ...mine, measures: [...mine.measures, ...measures] },
      reductions: [...new Set([...one.origin.reductions, ...other.origin.reductions])],
      notes: [...new Set([...one.origin.notes, `${said.join("; ")}.`])],
    },
  };
}
