/** What pages and files of charts are made of, for the rooms that write them. */
export { Chart } from "./chart-value.js";
export {
  changeChart,
  evidenceChart,
  FINDING_TYPE,
  findingBundles,
  findingTable,
  howMuchOf,
} from "./finding/change.js";
export { drawRecipe } from "./chart.js";
export { resultOf } from "./check-result.js";
export type { Recipe } from "./options.js";
export { words } from "./render/label.js";
export { originEntries, originRecord, readOrigins, redactedJson } from "./render/origin.js";
export { chartFigure, liveContent, tableFigure } from "./render/page/figures.js";
export { jsonScript, pageDocument } from "./render/page/page-document.js";
export { csv } from "./render/save.js";
export { loadPictures, titleText } from "./render/svg.js";
export { markdownText } from "./render/table-outputs.js";
export type { VegaLiteSpec } from "./render/theme.js";
export { originSpan } from "./sentences.js";
export { resultHtml, Table, table, type TableOptions } from "./table.js";
