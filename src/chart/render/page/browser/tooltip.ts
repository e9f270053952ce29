import type { TooltipHandler } from "vega";

const LONGEST_CELL = 400;
const DISTANCE = 14;

let shown: HTMLElement | undefined;

/** Shows what Vega gives for the mark under the pointer: names and values, as text whatever they hold. */
export const showTooltip: TooltipHandler = (_handler, event, _item, value) => {
  shown?.remove();
  shown = undefined;
  if (value === null || value === undefined || value === "") return;
  shown = document.createElement("div");
  shown.className = "probelab-tooltip";
  shown.setAttribute("role", "tooltip");
  if (typeof value === "object" && !Array.isArray(value)) shown.append(pairs(value as object));
  else shown.textContent = cellText(value);
  document.body.append(shown);
  place(shown, event);
};

function pairs(value: object): HTMLTableElement {
  const table = document.createElement("table");
  for (const [name, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    const row = table.insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = cellText(name);
    row.append(head);
    row.insertCell().textContent = cellText(inner);
  }
  return table;
}

function cellText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL - 1)}…` : text;
}

/** Beside the pointer, within the window. */
function place(tooltip: HTMLElement, event: MouseEvent | TouchEvent): void {
  const at = "touches" in event ? (event.touches[0] ?? event.changedTouches[0]) : event;
  if (!at) return;
  const { width, height } = tooltip.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const right = at.clientX + DISTANCE;
  const below = at.clientY + DISTANCE;
  const x = right + width > clientWidth ? at.clientX - DISTANCE - width : right;
  const y = below + height > clientHeight ? at.clientY - DISTANCE - height : below;
  tooltip.style.left = `${Math.max(0, x)}px`;
  tooltip.style.top = `${Math.max(0, y)}px`;
}
