import { shown } from "../shown.js";

/** `a → b → c`; the middle of a long path is left out. */
export function pathText(path: readonly string[], most = 12): string {
  const names = path.map((name) => shown(name).slice(1, -1));
  if (names.length <= most) return names.join(" → ");
  const half = Math.floor(most / 2);
  return [
    ...names.slice(0, half),
    `… ${(names.length - 2 * half).toLocaleString("en-US")} more …`,
    ...names.slice(-half),
  ].join(" → ");
}
