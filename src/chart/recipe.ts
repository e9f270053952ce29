import type { VegaLiteSpec } from "./frame.js";
import type { ChartOptions } from "./options.js";
import type { MarkType } from "./roles.js";

/** How a chart was made of a Result: by a mark with its options, or by an analyst's own spec. */
export type Recipe =
  { readonly mark: MarkType; readonly options: ChartOptions } | { readonly spec: VegaLiteSpec };
