import { isPrefix, type Prefix } from "./prefix.js";
import type { FilterValue, Where } from "./filter.js";

const MOST_VALUES = 3;

/** A `where` in words, for titles: `software_name = probe-cli, probe_cc = IT or US`; "" for none. */
export function filterText(where: Where): string {
  return Object.entries(where)
    .map(([column, wanted]) => {
      const values = Array.isArray(wanted)
        ? (wanted as readonly (FilterValue | Prefix)[])
        : [wanted as FilterValue | Prefix];
      const shown = values.slice(0, MOST_VALUES).map(valueText);
      const more = values.length - shown.length;
      return `${column} = ${shown.join(" or ")}${more > 0 ? ` or ${more} more` : ""}`;
    })
    .join(", ");
}

function valueText(value: FilterValue | Prefix): string {
  if (isPrefix(value)) return `${value.prefix}…`;
  if (value === null) return "(none)";
  return value === "" ? "(empty)" : String(value);
}
