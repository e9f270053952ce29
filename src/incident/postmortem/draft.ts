import type { Chart } from "../../chart/chart-value.js";
import type { Table } from "../../chart/table.js";
import type { Told, When } from "./fields.js";
import type { PostmortemRecord } from "./record.js";

/** What a statement rests on: a chart or a table (added where it isn't yet), or a web address. */
export type EvidenceSource = Chart | Table | string;

/** What is done so that it doesn't happen again, or is noticed sooner. */
export interface Action {
  readonly what: string;
  /** `"prevent"`, `"detect"`, `"mitigate"`, or the team's own word. */
  readonly type?: string;
  readonly owner?: string;
  /** An issue's number or address. */
  readonly reference?: string;
  readonly due?: When;
  readonly done?: boolean;
}

/** Everything told so far; what the record adds when it is saved is left out. */
export type Draft = Told & Pick<PostmortemRecord, "findings" | "timeline" | "actions">;
