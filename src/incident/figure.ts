import type { ColumnTable } from "arquero";
import type * as Zod from "zod";
import { ProbelabError } from "../base/error.js";
import { lazySchemas } from "../base/lazy-schemas.js";
import { redact } from "../base/redact.js";
import { mapTexts } from "../base/text.js";
import {
  Chart,
  drawRecipe,
  type Recipe,
  redactedJson,
  table,
  Table,
  type TableOptions,
  titleText,
  words,
} from "../chart/page.js";
import { maskResult, type Change } from "../result/mask.js";
import { columnValues } from "../result/arquero-table.js";
import { fromTaggedJson, toTaggedJson, type Json } from "../result/json.js";
import type { Origin } from "../result/origin.js";
import { Result, type Value } from "../result/result.js";
import { between } from "../time/time-range.js";

/** The content of a figure. */
export type Content = Chart | Table;

/** A chart or a table of a postmortem, with its data. */
export interface Figure {
  readonly name: string;
  readonly caption: string;
  readonly content: Content;
}

/** A chart or a table, without its data. */
export interface FigureRecord {
  /** Of its files: what every file system and every link takes. */
  readonly name: string;
  readonly kind: "chart" | "table";
  readonly caption: string;
  /** The recipe that makes the chart or table from its data, as tagged JSON. */
  readonly recipe: Json;
}

/** The record of a figure, without its data. */
export function figureRecord({ name, caption, content }: Figure): FigureRecord {
  const recipe = content instanceof Chart ? content.recipe : content.options;
  return {
    name,
    kind: content instanceof Chart ? "chart" : "table",
    caption,
    recipe: JSON.parse(toTaggedJson(recipe)) as Json,
  };
}

/** The figure again, of its record and its data. @throws ProbelabError where that data can't be drawn so. */
export function drawFigure({ name, caption, kind, recipe }: FigureRecord, result: Result): Figure {
  const made = fromTaggedJson(JSON.stringify(recipe));
  if (kind === "table") return { name, caption, content: table(result, made as TableOptions) };
  if (isRecipe(made)) return { name, caption, content: drawRecipe(result, made) };
  throw new ProbelabError(
    `Can't draw the chart ${name}: this probelab knows no chart that is made so.`,
  );
}

function isRecipe(value: Value): value is Recipe {
  const kinds = ["mark", "spec", "explore", "change"];
  return typeof value === "object" && value !== null && kinds.some((kind) => kind in value);
}

/**
 * The figure with every text of it changed, drawn anew.
 *
 * @throws ProbelabError if a column's name would change: recipes and SQL call columns by their names.
 */
export function changeFigure(figure: Figure, change: Change): Figure {
  const { result } = figure.content;
  const renamed = result.columnNames().find((name) => change(name) !== name);
  if (renamed !== undefined) {
    throw new ProbelabError(
      `Can't mask the chart or table ${figure.name}: its column ${JSON.stringify(renamed)} is called after an address or a secret. Call the column otherwise: AS … in the SQL.`,
    );
  }
  const record = figureRecord(figure);
  const [data, drawn] = [maskResult(result, change), mapTexts(record, change)];
  return data === result && JSON.stringify(drawn) === JSON.stringify(record)
    ? figure
    : drawFigure({ ...drawn, name: figure.name }, data);
}

/** A chart's title, or a table's caption: what a figure is called where nobody named it. */
export function titleOf(content: Content): string {
  return content instanceof Table ? tableTitle(content) : titleText(content.spec.title);
}

/** Its own caption, or what it measures: `Runs by version`. */
function tableTitle({ options, model, origin: { columns } }: Table): string {
  const [measure] = columns.measures;
  if (options.caption !== undefined || measure === undefined) return model.caption;
  const by = [
    ...(columns.time ? [columns.time.every] : []),
    ...columns.dimensions.map(({ name }) => words(name)),
  ];
  return by.length === 0 ? measure.label : `${measure.label} by ${by.join(" and ")}`;
}

/** A name for a figure's files, made of a text, and of no other's. */
export function figureName(text: string, taken: ReadonlySet<string>, longest = 60): string {
  const whole = redact(text)
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  const end = whole.length > longest ? whole.lastIndexOf("-", longest) : whole.length;
  const plain = whole.slice(0, end > 0 ? end : longest) || "figure";
  for (let count = 1; ; count++) {
    const name = count === 1 ? plain : `${plain}-${count}`;
    if (!taken.has(name)) return name;
  }
}

/**
 * A text as the address of a link: `http` or `https`, written as browsers send it, so that no quote,
 * space or other script in it ends it anywhere, without user name and password.
 *
 * @returns undefined where the text is no such address, or a part of it was masked.
 */
export function webAddress(text: string): string | undefined {
  if (!URL.canParse(text) || /\[(?:IPv[46]|e-mail)/.test(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  url.username = "";
  url.password = "";
  const plain = redact(url.href);
  return URL.canParse(plain) ? new URL(plain).href.replaceAll("\\", "%5C") : undefined;
}

/** Columns in order. */
export type Columns = readonly (readonly [name: string, values: readonly Value[]])[];

/** A table's columns. */
export function columnsOf(table: ColumnTable): Columns {
  return table.columnNames().map((name) => [name, columnValues(table, name)] as const);
}

/** A Result as text without secrets: its rows, where they come from, what its columns mean. */
export function resultText({ table, origin }: Result): string {
  const { range, parameters, ...rest } = origin;
  const span = range && [range.start, range.end, range.timeZone];
  const texts = {
    rows: columnsOf(table),
    origin: rest,
  };
  return `${toTaggedJson({
    ...mapTexts(texts, redact),
    parameters: redactedJson(parameters),
    ...(span && { span }),
  })}\n`;
}

/** Reads columns as `columnsOf` gives them. */
export const columnSchema = (z: typeof Zod.z) =>
  z.array(z.tuple([z.string(), z.array(z.custom<Value>())]));

const schema = lazySchemas(({ z }) => {
  const columns = columnSchema(z);
  const named = z.array(z.looseObject({ name: z.string() }));
  return z.object({
    rows: columns,
    parameters: z.record(z.string(), z.unknown()),
    origin: z.looseObject({
      sql: z.string(),
      source: z.string(),
      askedAt: z.date(),
      columns: z.looseObject({ dimensions: named, measures: named }),
      reductions: z.array(z.string()),
      notes: z.array(z.string()),
    }),
    span: z.tuple([z.date(), z.date(), z.string()]).optional(),
  });
});

/** The Result of such a text. @throws ProbelabError for another text. */
export async function readResultText(text: string): Promise<Result> {
  const aq = await import("arquero");
  const tableOf = (columns: [string, Value[]][]) => aq.table(columns);
  try {
    const { rows, parameters, origin, span } = schema().parse(fromTaggedJson(text));
    return new Result(tableOf(rows), {
      ...(origin as object as Origin),
      parameters,
      ...(span && { range: between(span[0], span[1], { timeZone: span[2] }) }),
    });
  } catch (error) {
    throw new ProbelabError(
      "Can't read the rows of a figure: this probelab does not write such a file.",
      { cause: error },
    );
  }
}
