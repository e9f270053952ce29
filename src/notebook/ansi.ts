const escape = "\u001b[";

const paint = (on: number, off: number) => (text: string) =>
  `${escape}${on}m${text}${escape}${off}m`;

export const bold = paint(1, 22);
export const dim = paint(2, 22);
export const red = paint(31, 39);
export const cyan = paint(36, 39);

/** Text without its colours. */
export function plain(text: string): string {
  return text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "");
}
