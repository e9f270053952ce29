import type * as Zod from "zod";
import { lazySchemas } from "../../base/lazy-schemas.js";
import { readText, UNTOLD } from "./fields.js";
import { figureName, type Content } from "./figure.js";
import { schemas } from "./record-schemas.js";
import type {
  ActionRecord,
  Draft,
  Evidence,
  FigureRecord,
  Finding,
  TimelineEntry,
  Told,
} from "./record.js";

/** A figure of an entry. Evidence of entries names it by its id, which no two figures share. */
export interface EntryFigure extends FigureRecord {
  readonly id: string;
}

/** The content of one entry. */
export interface Part {
  readonly told?: Partial<Told>;
  readonly findings?: readonly Finding[];
  readonly timeline?: readonly TimelineEntry[];
  readonly actions?: readonly ActionRecord[];
  readonly figures?: readonly EntryFigure[];
  /** The person in charge from here on. */
  readonly to?: string;
}

/** That somebody else has the incident from here on. @param by who says so, on which it rests. */
export function handoverPart(to: string, text: string, time: string, by?: string) {
  const name = readText(to, "the name of somebody");
  const event = `Handed over to ${name}: ${readText(text, "a handover")}`;
  return { to: name, timeline: said(event, time, by) };
}

/** That the incident is over. @param by who says so, on which it rests. */
export function closingPart(text: string, time: string, by?: string) {
  const event = `Closed: ${readText(text, "a closing")}`;
  return { told: { resolvedAt: time, status: "closed" }, timeline: said(event, time, by) };
}

function said(event: string, time: string, by: string | undefined): TimelineEntry[] {
  return [{ time, event, evidence: by === undefined ? [] : [{ text: `said by ${by}` }] }];
}

/** One entry; a postmortem is the sum of its entries. */
export interface Entry extends Part {
  readonly format: "probelab entry 1";
  readonly writtenAt: string;
  /** Nobody in a postmortem that one value holds. */
  readonly author?: string;
}

const schema = lazySchemas(({ z }) => {
  const { told, lists, figure } = schemas();
  return z.strictObject({
    format: z.literal("probelab entry 1"),
    writtenAt: z.iso.datetime(),
    author: z.string().exactOptional(),
    told: told.partial().exactOptional(),
    findings: lists.shape.findings.exactOptional(),
    timeline: lists.shape.timeline.exactOptional(),
    actions: lists.shape.actions.exactOptional(),
    figures: z.array(figure.extend({ id: z.string().regex(/^[0-9a-f]{16}$/) })).exactOptional(),
    to: z.string().exactOptional(),
  }) as Zod.ZodType<Entry>;
});

/** An entry of its text. @throws where it is none that this probelab writes. */
export function parseEntry(text: string): Entry {
  return schema().parse(JSON.parse(text));
}

/** Merged entries. */
export interface Whole {
  readonly draft: Draft;
  /** In the order in which they were added first, each with a name of its own. */
  readonly figures: readonly EntryFigure[];
}

/** Merges entries: the last value of each field, all list items, the timeline sorted. */
export function sumOf(entries: readonly Entry[]): Whole {
  const latest = new Map<string, EntryFigure>();
  for (const figure of entries.flatMap(({ figures = [] }) => figures))
    latest.set(figure.id, figure);
  const names = new Map<string, string>();
  const figures = [...latest.values()].map((figure) => {
    // Two that add a figure of one name at the same time each had it to themselves.
    const name = figureName(figure.name, new Set(names.values()), 80);
    names.set(figure.id, name);
    return { ...figure, name };
  });
  const named = <T extends { readonly evidence: readonly Evidence[] }>(each: T): T => ({
    ...each,
    evidence: each.evidence.map((source) =>
      "figure" in source ? { figure: names.get(source.figure) ?? source.figure } : source,
    ),
  });
  const told = Object.assign({}, UNTOLD, ...entries.map(({ told }) => told)) as Told;
  const authors = [...new Set(entries.flatMap(({ author }) => author ?? []))];
  const timeline = entries.flatMap(({ timeline = [], author }) =>
    timeline.map(named).map((event) => ({ ...event, event: signed(event, author) })),
  );
  const draft = {
    ...told,
    authors: told.authors.length > 0 ? told.authors : authors,
    findings: entries.flatMap(({ findings = [] }) => findings.map(named)),
    timeline: timeline.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0)),
    actions: entries.flatMap(({ actions = [] }) => actions),
  };
  return { draft: structuredClone(draft), figures };
}

/** The event with its author, unless the evidence names the author already. */
function signed({ event, evidence }: TimelineEntry, author?: string): string {
  return author === undefined || evidence.some((source) => "text" in source)
    ? event
    : `${event} (${author})`;
}

/** Keeps the entries of a postmortem that several people write; see `postmortem.open`. */
export interface Journal {
  readonly folder: string;
  readonly author: string;
  /** Keeps an entry; it is on the disk when this returns. */
  append(entry: Entry, contents: ReadonlyMap<string, Content>): void;
  /** All entries, and what is new of their figures. */
  read(known: ReadonlyMap<string, Content>): Promise<{
    readonly entries: readonly Entry[];
    readonly contents: ReadonlyMap<string, Content>;
  }>;
}
