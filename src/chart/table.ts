import { checkOptions, type Rules } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { MOST_ROWS } from "../base/limits.js";
import { redactTexts } from "../base/redact.js";
import { cleanText, counted, grouped, textOf } from "../base/text.js";
import { amount } from "../base/numbers.js";
import { isNaming, valueWords } from "../result/column-words.js";
import { isVersionColumn, zoneOf, type Origin } from "../result/origin.js";
import type { RowsGiven } from "../result/own-rows.js";
import { pickRows } from "../result/arquero-table.js";
import { Result, type Value } from "../result/result.js";
import { compareVersions } from "../result/version-order.js";
import { formatInstant } from "../time/time-zone.js";
import { heading, label } from "./render/label.js";
import { originRecord } from "./render/origin.js";
import { chartPage } from "./render/page/figures.js";
import { resultOf } from "./check-result.js";
import { isText, type ColumnOf } from "./options.js";
import { checkColumn, list } from "./roles.js";
import { csv, saveAs, titledParquet, type ChartRows, type SaveOptions } from "./render/save.js";
import { originSpan, spanSentence } from "./sentences.js";
import { tableHtml, tableMarkdown, type TableModel } from "./render/table-outputs.js";

/** Options of `table`. */
export interface TableOptions<C extends string = string> {
  /** Columns to show, in order; default all. */
  readonly columns?: readonly C[];
  /** Default: number of rows and the range. */
  readonly caption?: string;
  /** Rows to show, default 100, at most 4,999. */
  readonly limit?: number;
  /** Column to sort by: numbers the largest first, texts, versions and times the first first; what holds the rest is last. */
  readonly sort?: C;
}

/** Checks of the options of a table. */
const TABLE_RULES = {
  columns: {
    fits: (value) => Array.isArray(value) && value.every(isText),
    pass: 'a list of columns, ["t", "runs"]',
  },
  caption: { fits: isText, pass: "a text" },
  limit: {
    fits: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_ROWS,
    pass: "a whole number under 5,000",
  },
  sort: { fits: isText, pass: "the name of a column" },
} satisfies Rules<TableOptions>;

/** A table: a value that a notebook shows. */
export class Table {
  /** The Result that it is a table of. */
  readonly result: Result;
  /** Its options. */
  readonly options: TableOptions;
  /** What any format shows. */
  readonly model: ReturnType<typeof tableModel>;

  constructor(result: Result, options: TableOptions) {
    this.result = result;
    this.options = options;
    this.model = redactTexts(tableModel(result, options));
  }

  /** The rows and columns that it shows, for `.csv` and `.parquet`. */
  get data(): ChartRows {
    return this.model.data;
  }

  /** Where the data comes from. */
  get origin(): Origin {
    return this.result.origin;
  }

  /** HTML with a caption, headers with scope, numbers as text. */
  get html(): string {
    return tableHtml(this.model);
  }

  /** Markdown. */
  get markdown(): string {
    return tableMarkdown(this.model);
  }

  /**
   * Writes the table, in the format of the path's extension: `.html` (a page, offline, with where it comes
   * from), `.md`, `.csv` or `.parquet` (the rows shown, typed, with the origin in
   * the metadata). The file is written whole or not at all; folders are made.
   *
   * @param target a path, or a file: URL.
   * @param options `bom: true` begins a CSV with a byte order mark, for Excel.
   * @returns the absolute path.
   * @throws ProbelabError for another extension, or where the path can't be written.
   * @example
   * await table(summary, { sort: "runs" }).save("out/runs-by-version.html");
   */
  save(target: string | URL, options: SaveOptions = {}): Promise<string> {
    const formats = {
      ".html": () => chartPage([this]),
      ".md": () => this.markdown,
      ".csv": () => csv(this.data.names, this.data.rows),
      ".parquet": () =>
        titledParquet(this.data, JSON.stringify(originRecord(this.origin)), this.model.caption),
    };
    return saveAs("table", target, formats, options);
  }

  toString(): string {
    return this.markdown;
  }

  /** What a notebook shows. */
  [Symbol.for("Jupyter.display")](): Record<string, unknown> {
    return { "text/html": this.html, "text/markdown": this.markdown, "text/plain": this.markdown };
  }
}

/**
 * A Result as a table; also an Arquero table, or rows of your own.
 *
 * Numbers are text, aligned by their decimals.
 *
 * @throws ProbelabError for an unknown column.
 * @example
 * const summary = await lab.runs.summary({ range, by: "software_version" });
 * table(summary, { sort: "runs", caption: "Runs by version" });
 * table([{ deploy: new Date("2026-05-04"), version: "3.10" }]);
 */
export function table<R extends RowsGiven>(
  rows: R,
  options: TableOptions<ColumnOf<R>> = {},
): Table {
  const result = resultOf(rows, "table");
  checkOptions(options, TABLE_RULES, "show a table");
  return new Table(result, options);
}

/** A bare Result as a notebook shows it: its first 20 rows, how many there are, the range, what was left out. */
export function resultHtml(result: Result): string {
  return tableHtml(tableModel(result, { limit: 20 }));
}

/** @throws ProbelabError for an unknown column or none at all. */
export function tableModel(
  given: Result,
  options: TableOptions,
): TableModel & { readonly data: ChartRows } {
  const result = sortedBy(given, options.sort);
  const { columns: meaning, reductions, notes } = result.origin;
  const { time, dimensions, measures } = meaning;
  const names = options.columns ?? shownNames(result);
  if (options.columns?.length === 0) {
    throw new ProbelabError(
      `Can't show a table with columns: []: name those to show, such as ${list(result.columnNames().slice(0, 2))}, or leave columns out for all.`,
    );
  }
  for (const name of names) checkColumn(result.columnNames(), name, "show a table: ");
  const shown = Math.min(options.limit ?? 100, result.numRows());
  const zone = zoneOf(result.origin);
  const incomplete = new Set(time?.incomplete.map(Number));
  const held = names.map((name) => result.column(name));
  // An answer has a measure a row, each of a unit of its own.
  const units = result.columnNames().includes("unit") ? result.column("unit") : undefined;
  const columns = names.map((name, index) => {
    const values = held[index]!;
    const measure = measures.find((each) => each.name === name);
    const dimension = dimensions.find((each) => each.name === name);
    const isTime = name === time?.name || values.some((value) => value instanceof Date);
    const number = !isTime && values.some(isNumber);
    const amounts = measure !== undefined || !(dimension || isNaming(name) || /year$/i.test(name));
    const write = number
      ? numberWriter(values.filter(isNumber), measure?.unit === "share", amounts)
      : undefined;
    const cells = values.slice(0, shown).map((value, row): string => {
      if (value === null || value === undefined) return dimension ? label(null) : "–";
      if (value instanceof Date) {
        const part = name === time?.name && incomplete.has(+value);
        return `${formatInstant(value, zone)}${part ? " (incomplete)" : ""}`;
      }
      if (units && measure?.unit === "" && isNumber(value)) {
        return withUnit(Number(value), textOf(units[row]), /change|end of/i.test(measure.label));
      }
      const named = valueWords(dimension?.of ?? name, value);
      return write && isNumber(named) ? write(named) : label(named, 500);
    });
    const unit = measure?.unit === "s" ? " (s)" : isTime ? ` (${zone})` : "";
    const title = measure === undefined ? heading(name) : label(measure.label);
    return { title: `${title}${unit}`, number, cells };
  });
  const groups = [time?.name, ...dimensions.map(({ name }) => name)];
  const heads = names.findIndex((name) => !groups.includes(name));
  const all = counted(result.numRows(), "row");
  const below = [
    ...(shown < result.numRows() ? [`${grouped(shown)} of ${all} shown.`] : []),
    ...(options.caption === undefined ? [] : spanSentence(result.origin)),
    ...reductions,
    ...notes,
  ];
  const rows = [...Array(shown).keys()];
  return {
    caption: cleanText(options.caption ?? [all, ...originSpan(result.origin)].join(", "), 300),
    columns,
    heads: heads < 0 ? names.length : heads,
    data: { names, rows: rows.map((row) => held.map((column) => column[row])) },
    rows: rows.map((row) => columns.map(({ cells }) => cells[row]!)),
    notes: below.map((note) => cleanText(note, 2_000)),
  };
}

/** All columns, but for the units of rows, which stand with their numbers. */
function shownNames(result: Result): string[] {
  const { measures } = result.origin.columns;
  const isAnswer = measures.some(({ unit, name }) => unit === "" && name === "change");
  return result.columnNames().filter((name) => !(isAnswer && name === "unit"));
}

/** The rows by a column, what holds the rest last. */
function sortedBy(result: Result, name: string | undefined): Result {
  if (name === undefined) return result;
  checkColumn(result.columnNames(), name, "show a table with sort: ");
  const values = result.column(name);
  const { dimensions } = result.origin.columns;
  const last = result.rows().map((row, at) => {
    const isRest = dimensions.some(
      ({ name: of, other }) => other !== undefined && row[of] === other,
    );
    return Number(isRest) * 2 + Number((values[at] ?? NaN) !== values[at]);
  });
  const sign = values.some(isNumber) ? -1 : 1;
  const compare = (a: Value, b: Value): number => {
    if (isVersionColumn(name)) return compareVersions(textOf(a), textOf(b));
    return sign * (a! < b! ? -1 : Number(a! > b!));
  };
  const order = [...values.keys()].sort(
    (a, b) => last[a]! - last[b]! || compare(values[a], values[b]),
  );
  return new Result(pickRows(result.table, order), result.origin);
}

/** A number of three digits with its unit; differences of shares are points. */
function withUnit(value: number, unit: string, isDifference: boolean): string {
  const text = amount(unit === "share" ? value : Number(value.toPrecision(3)), unit);
  const signed = isDifference && value > 0 ? `+${text}` : text;
  return isDifference ? signed.replace(/ %$/, " pp") : signed;
}

function isNumber(value: Value): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

const MOST_DECIMALS = 6;

// Writes the numbers of a column: with the decimals of three or four digits of the largest, but two digits
// of each at least; or all with an exponent where that needs too many. Of whole numbers every digit is written, of
// bigint too. What isn't zero never reads as zero: what would be is `<0.000001`.
function numberWriter(
  values: readonly (number | bigint)[],
  share: boolean,
  grouped: boolean,
): (value: number | bigint) => string {
  const numbers = values.map(Number);
  const largest = numbers.filter(Number.isFinite).reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  const whole = numbers.every((value) => Number.isInteger(value));
  const wanted = whole || largest >= 100 ? 0 : 2 - Math.floor(Math.log10(largest || 1));
  // Two digits of the largest are enough.
  if (!share && wanted > MOST_DECIMALS + 1) {
    return (value) =>
      Number(value) === 0 ? "0" : Number(value).toExponential(2).replace(/^-/, "−");
  }
  const decimals = share ? 1 : Math.min(MOST_DECIMALS, wanted);
  const formats = Array.from(
    { length: MOST_DECIMALS + 1 },
    (_, digits) =>
      new Intl.NumberFormat("en-US", {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
        useGrouping: grouped,
      }),
  );
  const unit = share ? " %" : "";
  const least = formats[MOST_DECIMALS]!.format(10 ** -MOST_DECIMALS);
  return (value) => {
    const amount = share ? Number(value) * 100 : value;
    // Minus zero is zero.
    if (Number(amount) === 0) return `${formats[decimals]!.format(0)}${unit}`;
    const two = whole && !share ? 0 : 1 - Math.floor(Math.log10(Math.abs(Number(amount))));
    const digits = Math.min(MOST_DECIMALS, Math.max(decimals, two));
    // With the minus sign of the axes.
    const text = formats[digits]!.format(amount).replace("-", "−");
    if (/[^−0.,]/.test(text)) return `${text}${unit}`;
    return `${amount < 0 ? ">−" : "<"}${least}${unit}`;
  };
}
