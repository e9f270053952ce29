import { cleanText } from "../../chart/label.js";
import { textWidth } from "../../chart/render/font.js";

/** Size of names, which are bold. */
export const NAME_SIZE = 12;

const WIDEST_NAME = 150;

/** A name on one or two lines of the box's width; the end of a longer one is left out. */
export function nameLines(name: string): [string, string] {
  const text = cleanText(name, 120);
  if (textWidth(text, NAME_SIZE, 700) <= WIDEST_NAME) return [text, ""];
  const first = fitting(text);
  // Broken after a space, a dash, a dot or a slash where one is near.
  const cut = Math.max(...[" ", "-", ".", "/", "_"].map((mark) => first.lastIndexOf(mark)));
  const line = cut > first.length / 3 ? first.slice(0, cut + 1) : first;
  const rest = text.slice(line.length).trim();
  const shownRest = fitting(rest);
  return [
    line.trim(),
    shownRest === rest ? rest : `${fitting(rest, WIDEST_NAME - textWidth("…", NAME_SIZE, 700))}…`,
  ];
}

function fitting(text: string, width = WIDEST_NAME): string {
  let fits = "";
  for (const character of text) {
    if (textWidth(fits + character, NAME_SIZE, 700) > width) break;
    fits += character;
  }
  return fits;
}
