import { cleanText } from "../../../chart/label.js";

/** A line of a report: how something stands, then what it is, which may be a stranger's name of a file. */
export function stateLine(state: string, text: string): string {
  return `${state.padEnd(9)} ${cleanText(text, 2_000)}`;
}
