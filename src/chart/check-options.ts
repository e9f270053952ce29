import { types } from "node:util";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { textOf } from "./label.js";
import type { ChartOptions, PageOptions } from "./options.js";
import type { TableOptions } from "./table-model.js";
import { THEMES } from "./theme.js";

/** What an option takes: TypeScript says so too, but plain JavaScript and `any` pass it by. */
export interface Rule {
  fits(this: void, value: unknown): boolean;
  /** What to pass instead, after "pass ". */
  readonly pass: string;
}

/** A rule for each option, none left out and none too many: the names can't drift from the types. */
export type Rules<Options> = Readonly<Record<keyof Options, Rule>>;

const isText = (value: unknown): boolean => typeof value === "string";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const text = (pass: string): Rule => ({ fits: isText, pass });
const column = text("the name of a column");
const pixels: Rule = {
  fits: (value) => Number.isInteger(value) && Number(value) >= 50 && Number(value) <= 4000,
  pass: "a whole number of pixels from 50 to 4000",
};

/** Those of a chart; a picture of something else may take some of them. */
export const CHART_RULES = {
  x: column,
  y: column,
  colour: { fits: (value) => value === null || isText(value), pass: `${column.pass}, or null` },
  title: text("a text"),
  subtitle: text("a text"),
  width: pixels,
  height: pixels,
  theme: {
    fits: (value) => isText(value) && Object.hasOwn(THEMES, String(value)),
    pass: '"light" or "dark"',
  },
  marks: {
    fits: (value) => Array.isArray(value) && value.every(isMark),
    pass: 'a list of marks, [chart.mark("2026-03-02T09:00:00Z", "3.10 released")]',
  },
  yScale: { fits: (value) => value === "linear" || value === "log", pass: '"linear" or "log"' },
  zero: { fits: (value) => typeof value === "boolean", pass: "true or false" },
} satisfies Rules<ChartOptions>;

const TABLE = {
  bars: {
    fits: (value) =>
      value === true ||
      (Array.isArray(value) && value.every((group) => isText(group) || isTexts(group))),
    pass: 'a list of columns, ["runs", ["q10", "q50"]], or true',
  },
  columns: { fits: isTexts, pass: 'a list of columns, ["t", "runs"]' },
  caption: text("a text"),
  limit: {
    fits: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 5_000,
    pass: "a whole number under 5,000",
  },
} satisfies Rules<TableOptions>;

const PAGE = { title: text("a text") } satisfies Rules<PageOptions>;

/** @throws ProbelabError for an option that a chart doesn't know, or a value that it doesn't take. */
export function checkChartOptions(options: ChartOptions): void {
  checkOptions(options, CHART_RULES, "draw a chart");
}

/** The same of a table. */
export function checkTableOptions(options: TableOptions): void {
  checkOptions(options, TABLE, "show a table");
}

/** The same of a page. */
export function checkPageOptions(options: PageOptions): void {
  checkOptions(options, PAGE, "make a page");
}

/** @param action such as `draw a chart`. @throws ProbelabError for what the rules don't allow. */
export function checkOptions(
  options: unknown,
  rules: Readonly<Record<string, Rule>>,
  action: string,
): void {
  const names = Object.keys(rules);
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new ProbelabError(
      `Can't ${action} with options ${shownValue(options)}: pass an object, { ${names[0]}: … }; it may have ${names.join(", ")}.`,
    );
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) {
      const near = nearName(name, names);
      const known = `${listed(names)}.`;
      throw new ProbelabError(
        `Can't ${action} with ${shownName(name)}: ${near === undefined ? `pass ${known}` : `did you mean ${near}? Pass ${known}`}`,
      );
    }
    if (!rule.fits(value)) {
      throw new ProbelabError(
        `Can't ${action} with ${name}: ${shownValue(value)}: pass ${rule.pass}.`,
      );
    }
  }
}

/** A value in an error's sentence, cut short. */
export function shownValue(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol") return "a symbol";
  if (isPromise(value)) return "a Promise";
  let shown: string;
  try {
    shown = typeof value === "string" ? JSON.stringify(value) : textOf(value);
  } catch {
    return "an object";
  }
  return shown.length > 100 ? `${shown.slice(0, 99)}…` : shown;
}

/** Whether it is one, of whatever library. */
export function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value && isMethod(value.then);
}

function isMethod(value: unknown): boolean {
  return typeof value === "function";
}

function isMark(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { time, label } = value as { time?: unknown; label?: unknown };
  return types.isDate(time) && !Number.isNaN(time.getTime()) && typeof label === "string";
}

function shownName(name: string): string {
  return /^[\w$]{1,60}$/.test(name) ? name : shownValue(name);
}

function listed(names: readonly string[]): string {
  return names.length === 1
    ? String(names[0])
    : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
