import { checkOptions, type Rule, type Rules } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { described } from "./described.js";
import type { Action } from "./draft.js";
import type { SaveOptions } from "./folder/save.js";

/** How a figure is called. */
export interface FigureOptions {
  /** What it shows, in a sentence; default its title. */
  readonly caption?: string;
  /** Of its files: small letters, digits and hyphens; default made of its title. */
  readonly name?: string;
}

const text: Rule = { fits: (value) => typeof value === "string", pass: "a text" };
const flag: Rule = { fits: (value) => typeof value === "boolean", pass: "true or false" };
const time: Rule = {
  fits: (value) => typeof value === "string" || value instanceof Date,
  pass: 'a Date or a text such as "2026-05-01"',
};

const FIGURE = { caption: text, name: text } satisfies Rules<FigureOptions>;

const ACTION = {
  what: { fits: () => true, pass: "a text" },
  type: text,
  owner: text,
  reference: text,
  due: time,
  done: flag,
} satisfies Rules<Action>;

const SAVE = { maskAddresses: flag, replaceChanges: flag, now: time } satisfies Rules<SaveOptions>;

/** @throws ProbelabError for an option that a figure doesn't know, or a value that it doesn't take. */
export function checkFigureOptions(options: FigureOptions): void {
  checkOptions(options, FIGURE, "add a figure");
}

/** The same of an action item. */
export function checkAction(action: Action): void {
  checkOptions(action, ACTION, "add an action item");
}

/** The same of saving. */
export function checkSaving(directory: unknown, options: SaveOptions): void {
  if (typeof directory !== "string" || directory === "") {
    throw new ProbelabError(
      `Can't save a postmortem in ${described(directory)}: pass the path of a folder, "postmortems/2026-05-04".`,
    );
  }
  checkOptions(options, SAVE, "save a postmortem");
}
