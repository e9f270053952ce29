import type { ColumnTable } from "arquero";
import { join } from "node:path";
import { lazySchemas } from "../base/lazy-schemas.js";
import { cleanText, counted, grouped, textOf } from "../base/text.js";
import { fromTaggedJson, type Json } from "../result/json.js";
import type { Value } from "../result/result.js";
import { formatInstant } from "../time/time-zone.js";
import { columnSchema, columnsOf, type Columns } from "./figure-file.js";
import { readPlainFile, type Verification } from "./manifest.js";
import { maskedAnswer } from "./query-file.js";

/** A figure's SQL, its parameters and the database that answered. Whoever wrote the folder chose it. */
export interface Question {
  readonly figure: string;
  readonly sql: string;
  readonly parameters: Readonly<Record<string, Json>>;
  readonly source: string;
}

/** The outcome of asking a figure's SQL again. */
export interface AnswerNow {
  readonly figure: string;
  /** `same` or `changed` where it was answered, `failed` where it should have been. */
  readonly state: "same" | "changed" | "not asked" | "failed";
  /** The cells that differ, or the reason. */
  readonly said: readonly string[];
}

const schema = lazySchemas(({ z }) =>
  z.object({
    sql: z.string(),
    parameters: z.record(z.string(), z.json()),
    source: z.string(),
    columns: columnSchema(z),
  }),
);

/**
 * Asks the SQL of a postmortem's figures again and compares the rows with those of the folder.
 * New answers are masked as the folder is.
 *
 * @param ask asks a database. @param mayRun is shown all SQL first; without its yes none runs.
 */
export async function rerunPostmortem(
  { folder, manifest, wrong }: Verification,
  ask: (question: Question) => Promise<ColumnTable>,
  mayRun: (all: readonly Question[]) => boolean,
): Promise<AnswerNow[]> {
  const figures = Object.keys(manifest.files).flatMap(
    (path) => /^queries\/([\w-]+)\.sql$/.exec(path)?.[1] ?? [],
  );
  const kept = new Map<string, { readonly question: Question; readonly columns: Columns }>();
  const answers = new Map<string, AnswerNow>();
  const say = (figure: string, state: AnswerNow["state"], ...said: string[]) =>
    void answers.set(figure, { figure, state, said });
  const trying = async (figure: string, act: () => Promise<void>) =>
    act().catch((error: Error) => {
      say(figure, "failed", error.message.replace(/\s+/g, " ").slice(0, 1_000));
    });
  for (const figure of figures) {
    say(
      figure,
      "not asked",
      "its query is masked, or no single query of under 5,000 rows gave its rows",
    );
    const path = `queries/${figure}.json`;
    if (!Object.hasOwn(manifest.files, path)) continue;
    await trying(figure, async () => {
      if (wrong.some((each) => each.path === path))
        throw new Error(`${path} is not what was saved`);
      const text = (await readPlainFile(join(folder, path))).toString("utf8");
      const { columns, ...question } = schema().parse(fromTaggedJson(text));
      kept.set(figure, { question: { figure, ...question }, columns });
    });
  }
  const questions = [...kept.values()].map(({ question }) => question);
  const allowed = questions.length > 0 && mayRun(questions);
  for (const [figure, { question, columns }] of kept) {
    if (!allowed) {
      say(figure, "not asked", "its SQL runs only with --yes: read it above first");
      continue;
    }
    await trying(figure, async () => {
      const now = maskedAnswer(columnsOf(await ask(question)), manifest.masked);
      const found = differences(columns, now);
      const rows = counted(columns[0]?.[1].length ?? 0, "row");
      if (found.length === 0) say(figure, "same", `${rows}, every value as it was`);
      else say(figure, "changed", `${counted(found.length, "difference")} in ${rows}`, ...found);
    });
  }
  return [...answers.values()];
}

/**
 * The cells that differ between two answers to one SQL, a text each: `2026-04-13, 3.10.0: n 44,708 →
 * 44,709`. A row is known by its texts and times; rows with the same ones are compared in the order of
 * their numbers. The order of the rows is not compared: without `ORDER BY` a server gives any.
 */
function differences(before: Columns, now: Columns): string[] {
  const names = before.map(([name]) => name);
  const others = now.map(([name]) => name);
  const apart = [
    ...names.filter((name) => !others.includes(name)),
    ...others.filter((name) => !names.includes(name)),
  ];
  // Other columns name and pair the rows otherwise: cells can't be compared.
  if (apart.length > 0) {
    return apart.map((name) => `column ${name} is in only one of the answers`);
  }
  const keys = names.filter((name) =>
    [...before, ...now].every(
      ([other, values]) => other !== name || values.every((each) => isName(name, each)),
    ),
  );
  const [earlier, later] = [rowsByKey(before, names, keys), rowsByKey(now, names, keys)];
  const changed = [...earlier].flatMap(([key, { title, cells }]) => {
    const other = later.get(key);
    if (other === undefined) return [`${title}is gone`];
    return names.flatMap((name, at) =>
      cells[at] === other.cells[at] ? [] : [`${title}${name} ${cells[at]} → ${other.cells[at]}`],
    );
  });
  const added = [...later].filter(([key]) => !earlier.has(key));
  return [...changed, ...added.map(([, { title }]) => `${title}is new`)];
}

/** True for a value that can name a row: a text, a time, or nothing. */
function isName(column: string, value: Value): boolean {
  if (typeof value === "number") return column === BUCKET;
  return typeof value !== "bigint" && (!(value instanceof Object) || value instanceof Date);
}

// The start of a bucket, which built SQL gives in milliseconds.
const BUCKET = "_t";

/** Rows as texts by their keys; of rows with one key each has a number, in the order of their values. */
function rowsByKey(columns: Columns, names: readonly string[], keys: readonly string[]) {
  const values = new Map(columns);
  const rows = (columns[0]?.[1] ?? []).map((_, row) => {
    const cells = names.map((name) => cellText(name, values.get(name)?.[row]));
    const own = cells.filter((_, at) => keys.includes(names[at]!));
    return { cells, title: own.length === 0 ? "a row " : `${own.join(", ")}: ` };
  });
  const text = ({ cells }: { readonly cells: readonly string[] }) => cells.join("\0");
  rows.sort((a, b) => text(a).localeCompare(text(b), "en", { numeric: true }));
  const counts = new Map<string, number>();
  return new Map(
    rows.map((row) => {
      const count = (counts.get(row.title) ?? 0) + 1;
      counts.set(row.title, count);
      return [`${row.title} ${count}`, row] as const;
    }),
  );
}

/**
 * A value as text. Fractions have nine digits, also within a text or a list: sums of them depend on the
 * order in which the server's threads add them up.
 */
function cellText(column: string, value: Value): string {
  if (value === null || value === undefined) return "(none)";
  if (column === BUCKET && typeof value === "number") return cellText("", new Date(value));
  if (value instanceof Date) return formatInstant(value, "UTC");
  if (typeof value === "bigint") return value.toLocaleString("en-US");
  if (typeof value === "number" && Number.isInteger(value)) return grouped(value);
  return textOf(value).replace(/-?\d+\.\d+(?:e[+-]?\d+)?/gi, (number) =>
    String(Number(Number(number).toPrecision(9))),
  );
}

const WORDS = { same: "ok", changed: "CHANGED", "not asked": "not asked", failed: "FAILED" };
const MOST_SHOWN = 12;

/** The answers for a console: the cells that differ. */
export function answersText(answers: readonly AnswerNow[]): string {
  const count = (...states: AnswerNow["state"][]) =>
    answers.filter(({ state }) => states.includes(state)).length;
  const lines = answers.flatMap(({ figure, state, said: [first = "", ...more] }) => [
    `${WORDS[state].padEnd(9)} ${figure}: ${cleanText(first, 1_000)}`,
    ...more.slice(0, MOST_SHOWN).map((text) => `           ${cleanText(text, 500)}`),
    ...(more.length > MOST_SHOWN ? [`           … and ${more.length - MOST_SHOWN} more`] : []),
  ]);
  const [asked, changed] = [counted(count("same", "changed"), "figure"), count("changed")];
  if (changed > 0) lines.push(`The database gives other values for ${changed} of ${asked}.`);
  else if (count("same") > 0) lines.push(`The database gives the same values for ${asked}.`);
  if (count("failed") > 0) lines.push(`${counted(count("failed"), "figure")} could not be asked.`);
  return `${lines.join("\n")}\n`;
}
