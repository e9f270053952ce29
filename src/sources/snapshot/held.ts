import type { AskRows } from "../../database/tables.js";
import type { TableInfo } from "../../database/table-info.js";
import { quoteIdentifier, timeColumn, type TimeForm } from "../../database/time-column.js";
import type { Writer } from "../../database/writer.js";
import { ProbelabError } from "../../base/error.js";
import { fromTaggedJson, toTaggedJson } from "../../result/json.js";
import type { Where } from "../../query/where.js";

/** What a snapshot is of: the same for every taking. */
export interface SnapshotSubject {
  /** The layout of the snapshot's tables; another one can't be read. */
  readonly layout: 5;
  /** The database, without credentials, and the table in it. */
  readonly source: string;
  readonly table: string;
  readonly where: Where;
  /** The names and types of the columns that it holds. */
  readonly dimensions: readonly (readonly [name: string, type: string])[];
  /** The time column, its type as a minimum of it has it, and how it writes an instant. */
  readonly time: { readonly name: string; readonly type: string; readonly form: TimeForm | null };
  /** True if rows are counted as the table merges them. */
  readonly merges: boolean;
  readonly engine: string;
}

/** What a snapshot holds since a taking ended. All of it is there, and never changes. */
export interface SnapshotState extends SnapshotSubject {
  /** The number in the names of its tables. */
  readonly edition: number;
  /** Whole hours of UTC. */
  readonly start: Date;
  readonly end: Date;
  /** When each of its days had the measurements of the table. */
  readonly takenAt: Date;
  readonly measurements: number;
  readonly runs: number;
  /** True if some measurements have no report. */
  readonly noReport: boolean;
  /** What the reader of the table's answers must know. */
  readonly notes: readonly string[];
}

/** The names of a snapshot's tables. @throws ProbelabError for a name that can't be one. */
export function tablesOf(name: string) {
  if (typeof name !== "string" || !/^[a-z][a-z0-9_]{0,39}$/.test(name)) {
    throw new ProbelabError(
      `Can't name a snapshot ${JSON.stringify(name)}: take small letters, digits and _, such as name: "incident_42".`,
    );
  }
  const of = (what: string) => quoteIdentifier(`snapshot_${name}_${what}`);
  return {
    /** What it is of, and what each taking found: the newest row counts. */
    about: of("about"),
    /** All pieces that were read, a partition for each day; the days that are being read. */
    pieces: of("pieces"),
    staged: of("staged"),
    /** What questions read, made anew by each taking: hourly counts, and the pieces of runs. */
    hours: (edition: number) => of(`e${edition}_hours`),
    runs: (edition: number) => of(`e${edition}_runs`),
  };
}

/** A dimension's column in the tables of a snapshot. */
export function columnOf(name: string): string {
  return quoteIdentifier(`by_${name}`);
}

/** Writes what a snapshot is of, or holds. */
export async function writeAbout(
  writer: Writer,
  name: string,
  about: SnapshotSubject | SnapshotState,
) {
  await writer.command(`INSERT INTO ${tablesOf(name).about} SELECT now64(6), {about:String}`, {
    parameters: { about: toTaggedJson(about) },
  });
}

/** What a snapshot is of, and what it holds once it was taken whole; undefined where there is none. */
export async function readAbout(
  ask: AskRows,
  name: string,
): Promise<SnapshotSubject | SnapshotState | undefined> {
  const [row] = await ask<{ about: string }>(
    `SELECT about FROM ${tablesOf(name).about} ORDER BY at DESC LIMIT 1`,
  ).catch((error: ProbelabError) => {
    if (error.code !== "UNKNOWN_TABLE") throw error;
    return [];
  });
  if (row === undefined) return undefined;
  const about = fromTaggedJson(row.about) as SnapshotSubject | SnapshotState;
  if (about.layout === 5) return about;
  throw new ProbelabError(
    `Can't read the snapshot ${name}: another version of probelab took it. Take it again under another name.`,
  );
}

/** True of a snapshot that was taken whole. */
export function isHeld(about: SnapshotSubject | SnapshotState | undefined): about is SnapshotState {
  return about !== undefined && "edition" in about;
}

/** A snapshot's table as the engine knows tables, its time the hour or the first of a piece. */
export function heldTable(name: string, held: SnapshotState, by: "_hour" | "_began"): TableInfo {
  const { hours, runs } = tablesOf(name);
  const { type, form } = by === "_hour" ? { type: "DateTime('UTC')", form: null } : held.time;
  const columns = new Map(held.dimensions);
  return {
    name: `Snapshot ${name}`,
    from: by === "_hour" ? hours(held.edition) : runs(held.edition),
    columns: new Map([...columns, [by, type]]),
    engine: held.engine,
    merges: false,
    notes: [],
    settled: true,
    timeName: by,
    timeForm: form,
    time: timeColumn(by, type, form),
    column(column) {
      if (column === by) return by;
      if (columns.has(column)) return columnOf(column);
      throw new ProbelabError(
        `Can't use ${column}: the snapshot ${name} holds ${[...columns.keys()].join(", ")}. Take one with dimensions: [${JSON.stringify(column)}, …] under another name, or ask the table itself.`,
      );
    },
  };
}
