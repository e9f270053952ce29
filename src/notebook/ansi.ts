const escape = "\u001b[";

const paint = (on: number, off: number) => (text: string) =>
  `${escape}${on}m${text}${escape}${off}m`;

export const bold = paint(1, 22);
export const dim = paint(2, 22);
export const red = paint(31, 39);
export const cyan = paint(36, 39);

/** Text without its colours. */
export function withoutColours(text: string): string {
  return text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "");
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as it can stand in HTML, also within an attribute's quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

const colours = ["red", "green", "yellow", "blue", "magenta", "cyan"];

/** Text with terminal colours as HTML: `<span class="ansi-red">`. Other escape sequences are left out. */
export function ansiHtml(text: string): string {
  let weight = "";
  let colour = "";
  return text
    .split(/(\u001b\[[0-9;?]*[A-Za-z])/)
    .map((part) => {
      const [, codes, end] = /^\u001b\[([0-9;?]*)([A-Za-z])$/.exec(part) ?? [];
      if (end === undefined) {
        const names = [weight, colour].filter((name) => name !== "").join(" ");
        const html = escapeHtml(part);
        return names === "" || part === "" ? html : `<span class="${names}">${html}</span>`;
      }
      for (const code of end === "m" ? (codes || "0").split(";").map(Number) : []) {
        if (code === 1 || code === 2) weight = code === 1 ? "ansi-bold" : "ansi-dim";
        if (code === 0 || code === 22) weight = "";
        if (code === 0 || code === 39) colour = "";
        const name = colours[code - 31];
        if (name !== undefined) colour = `ansi-${name}`;
      }
      return "";
    })
    .join("");
}
