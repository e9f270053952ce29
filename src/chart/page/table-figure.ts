import type { Origin } from "../../result/origin.js";
import { originRecord } from "../origin-record.js";
import { escapeXml } from "../../base/xml.js";
import type { TableModel } from "../table-model.js";
import { jsonScript } from "./json-script.js";
import { originDetails } from "./origin-details.js";

/** A table as far as its figure goes. */
export interface Tabular {
  readonly html: string;
  readonly markdown: string;
  readonly model: TableModel;
  readonly origin: Origin;
}

/**
 * A table as a `<figure>` of a page, with where it comes from, for readers and as JSON
 * (`script.probelab-origin`).
 *
 * @param id the figure's id, for links to it; unique in the page.
 */
export function tableFigure({ html, model, origin }: Tabular, id: string): string {
  const record = originRecord(origin);
  return `<figure class="probelab-table" id="${escapeXml(id)}" aria-label="${escapeXml(model.caption)}">
<div class="probelab-wide" tabindex="0" role="group" aria-label="Table">${html}</div>
<figcaption>${originDetails(record)}</figcaption>
${jsonScript("probelab-origin", record)}
</figure>
`;
}
