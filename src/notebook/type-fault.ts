import type TypeScript from "typescript";

/** TypeScript's objection to a line of a cell or of a file that it imports; line and column count from 1. */
export interface TypeFault {
  readonly source: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly code: number;
  /** The remedy, if TypeScript gives none. */
  readonly hint: string | undefined;
  readonly text: string;
  /** The reasons, from the outside in. */
  readonly details: readonly string[];
}

/** Options of questions and of charts by the names that other libraries have for them. */
const QUESTION_OPTIONS: Readonly<Record<string, string>> = {
  by: "groupBy|groupby|group_by|group|dimensions|breakdown",
  every: "interval|granularity|bucket|freq|resolution",
  where: "filter|filters",
  top: "limit",
  range: "period|timeRange|since|between",
};
const CHART_OPTIONS: Readonly<Record<string, string>> = {
  color: "colour|hue|groupBy|by|series",
  y: "value|values",
};
const CHART = "(?:Line|Area|Bar|Dot|Heatmap|Histogram)";

/** A pattern of TypeScript's words, one of the code that it points to, and what to write; `$1` is its group. */
type Hint = readonly [words: RegExp, code: RegExp, hint: string];

/** Errors that TypeScript words badly. */
const HINTS: readonly Hint[] = [
  [
    /^(?:Property '.*' does not exist on type|Argument of type|Type) 'Promise</,
    /(?:)/,
    "Did you forget await? This is a Promise, not yet its value.",
  ],
  [
    /^Type 'string' is not assignable to type 'TimeRange'/,
    /^range\s*:\s*("[^"]*"|'[^']*')/,
    "Write range: last($1), or range: between(start, end).",
  ],
  ...renamed(QUESTION_OPTIONS, `(?!${CHART})\\w*Options`),
  ...renamed(CHART_OPTIONS, `${CHART}Options`),
];

function renamed(options: Readonly<Record<string, string>>, type: string): Hint[] {
  return Object.entries(options).map(([name, others]) => [
    new RegExp(`'(${others})' does not exist in type '${type}\\b`),
    /(?:)/,
    `Write ${name}: there is no option $1.`,
  ]);
}

/**
 * A diagnostic as a fault; undefined where it points outside of the source's own text.
 *
 * @param start of the source's text in the text that TypeScript read, and its length
 */
export function typeFault(
  {
    file,
    start: at = 0,
    length: size = 1,
    code,
    messageText,
    relatedInformation,
  }: TypeScript.Diagnostic,
  source: string,
  start: number,
  length: number,
): TypeFault | undefined {
  const textEnd = start + length;
  if (!file || at < start || at > textEnd + 1) return undefined;
  const place = file.getLineAndCharacterOfPosition(Math.min(at, textEnd));
  const end = file.getLineAndCharacterOfPosition(Math.min(at + size, textEnd));
  const chain = typeof messageText === "string" ? { messageText } : messageText;
  const [text = "", ...details] = linesOf(chain);
  return {
    source,
    line: place.line + 1 - file.getLineAndCharacterOfPosition(start).line,
    column: place.character + 1,
    length: Math.max(1, end.line === place.line ? end.character - place.character : 1),
    code,
    hint: hintFor(text, file.text.slice(at, textEnd), relatedInformation),
    text,
    details,
  };
}

function linesOf({
  messageText,
  next = [],
}: Pick<TypeScript.DiagnosticMessageChain, "messageText" | "next">): string[] {
  return [messageText, ...next.flatMap(linesOf)];
}

/** TypeScript's own "Did you forget to use 'await'?" */
const FORGOTTEN_AWAIT = 2773;

function hintFor(
  text: string,
  code: string,
  related: readonly TypeScript.DiagnosticRelatedInformation[] = [],
): string | undefined {
  for (const [words, pattern, hint] of HINTS) {
    const said = words.exec(text);
    const written = pattern.exec(code);
    const group = written?.[1] ?? said?.[1] ?? "";
    if (said && written) return hint.replace("$1", () => group);
  }
  return related.some((each) => each.code === FORGOTTEN_AWAIT)
    ? "Did you forget await?"
    : undefined;
}
