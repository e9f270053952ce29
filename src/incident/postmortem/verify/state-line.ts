/** A line of a report: how something stands, then what it is. */
export function stateLine(state: string, text: string): string {
  return `${state.padEnd(9)} ${text}`;
}
