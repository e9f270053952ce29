import type { ColumnTable } from "arquero";
import { join } from "node:path";
import { lazySchemas } from "../base/lazy-schemas.js";
import { cleanText, counted, grouped, textOf } from "../base/text.js";
import { fromTaggedJson, type Json } from "../result/json.js";
import type { Value } from "../result/result.js";
import { formatInstant } from "../time/time-zone.js";
import { columnSchema, columnsOf, type Columns } from "./figure.js";
import { readPlainFile, type Verification } from "./manifest.js";
import { maskedAnswer } from "./query-file.js";

/** A figure's SQL, its parameters and the database that answered. The writer of the folder chose it. */
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
  /** The rows that differ, or the reason. */
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
      else say(figure, "changed", `of ${rows} some are gone or new`, ...found);
    });
  }
  return [...answers.values()];
}

/** The rows that only one of two answers to one SQL holds, `was …` or `now …`; their order is not compared. */
function differences(before: Columns, now: Columns): string[] {
  const [earlier, later] = [rowTexts(before), rowTexts(now)];
  const lines = [
    ...without(earlier, later).map((row) => [row, "was"]),
    ...without(later, earlier).map((row) => [row, "now"]),
  ] as const;
  // A row that changed stands below what it was.
  const sorted = [...lines].sort(([one = ""], [other = ""]) => (one < other ? -1 : 1));
  return sorted.map(([row, word]) => `${word} ${row}`);
}

/** `rows` without those of `others`, each as often as it is there. */
function without(rows: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const row of others) counts.set(row, (counts.get(row) ?? 0) + 1);
  return rows.filter((row) => {
    const count = counts.get(row) ?? 0;
    counts.set(row, count - 1);
    return count <= 0;
  });
}

/** `_t 2026-04-13, software_version 3.10.0, n 44,708`, a text a row. */
function rowTexts(columns: Columns): string[] {
  return (columns[0]?.[1] ?? []).map((_, row) =>
    columns.map(([name, values]) => `${name} ${cellText(name, values[row])}`).join(", "),
  );
}

/**
 * A value as text. Fractions have nine digits, also within a text or a list: sums of them depend on the
 * order in which the server's threads add them up.
 */
function cellText(column: string, value: Value): string {
  if (value === null || value === undefined) return "(none)";
  // The start of a bucket, which built SQL gives in milliseconds.
  if (column === "_t" && typeof value === "number") return cellText("", new Date(value));
  if (value instanceof Date) return formatInstant(value, "UTC");
  if (typeof value === "bigint") return value.toLocaleString("en-US");
  if (typeof value === "number" && Number.isInteger(value)) return grouped(value);
  return textOf(value).replace(/-?\d+\.\d+(?:e[+-]?\d+)?/gi, (number) =>
    String(Number(Number(number).toPrecision(9))),
  );
}

const WORDS = { same: "ok", changed: "CHANGED", "not asked": "not asked", failed: "FAILED" };
const MOST_SHOWN = 12;

/** The answers for a console: the rows that differ. */
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
