import { escapeHtml } from "./escape-html.js";

const classes: Record<string, string> = {
  "1": "bold",
  "2": "dim",
  "31": "red",
  "32": "green",
  "33": "yellow",
  "34": "blue",
  "35": "magenta",
  "36": "cyan",
};
const endOf: Record<string, RegExp> = { "22": /^(bold|dim)$/, "39": /^(?!bold|dim)/ };

/** Text with terminal colours as HTML: `<span class="ansi-red">`. Other escape sequences are left out. */
export function ansiHtml(text: string): string {
  let active: string[] = [];
  let html = "";

  for (const part of text.split(/(\u001b\[[0-9;?]*[A-Za-z])/)) {
    const codes = /^\u001b\[([0-9;?]*)([A-Za-z])$/.exec(part);
    if (!codes) {
      const names = active.map((name) => `ansi-${name}`).join(" ");
      if (part !== "")
        html += names ? `<span class="${names}">${escapeHtml(part)}</span>` : escapeHtml(part);
      continue;
    }
    if (codes[2] !== "m") continue;
    for (const code of (codes[1] || "0").split(";")) {
      const name = classes[code];
      const end = endOf[code];
      if (code === "0") active = [];
      else if (name) active = [...active.filter((one) => one !== name), name];
      else if (end) active = active.filter((one) => !end.test(one));
    }
  }
  return html;
}
