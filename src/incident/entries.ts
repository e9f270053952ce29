import { lazySchemas } from "../base/lazy-schemas.js";
import {
  readFields,
  UNTOLD,
  type ActionRecord,
  type Draft,
  type Evidence,
  type Finding,
  type PostmortemFields,
  type TimelineEntry,
  type Told,
} from "./fields.js";
import { figureName, type FigureRecord } from "./figure.js";

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
}

/** One entry; a postmortem is the sum of its entries. */
export interface Entry extends Part {
  readonly format: "probelab entry 1";
  readonly writtenAt: string;
  /** Nobody in a postmortem that one value holds. */
  readonly author?: string;
}

/** An entry written now. */
export function entryOf(part: Part, author?: string): Entry {
  const writtenAt = new Date().toISOString();
  return {
    format: "probelab entry 1",
    writtenAt,
    ...(author !== undefined && { author }),
    ...part,
  };
}

/** An event that rests on somebody's word. */
export function said(event: string, time: string, by: string | undefined): TimelineEntry {
  return { time, event, evidence: by === undefined ? [] : [{ text: `said by ${by}` }] };
}

const schema = lazySchemas(({ z }) => {
  const time = z.iso.datetime();
  const evidence = z.array(
    z.union([
      z.strictObject({ figure: z.string() }),
      z.strictObject({ text: z.string() }),
      z.strictObject({ link: z.string().regex(/^https?:\/\//i) }),
    ]),
  );
  const action = z.strictObject({
    what: z.string(),
    type: z.string(),
    owner: z.string().nullable(),
    reference: z.string().nullable(),
    due: time.nullable(),
    done: z.boolean(),
  });
  const figure = z.strictObject({
    id: z.string().regex(/^[0-9a-f]{16}$/),
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,79}$/),
    kind: z.enum(["chart", "table"]),
    caption: z.string(),
    recipe: z.json(),
  });
  return z.strictObject({
    format: z.literal("probelab entry 1"),
    writtenAt: time,
    author: z.string().exactOptional(),
    told: z
      .record(z.string(), z.unknown())
      .transform((told) => readFields(told as Partial<PostmortemFields>))
      .exactOptional(),
    findings: z.array(z.strictObject({ text: z.string(), evidence })).exactOptional(),
    timeline: z.array(z.strictObject({ time, event: z.string(), evidence })).exactOptional(),
    actions: z.array(action).exactOptional(),
    figures: z.array(figure).exactOptional(),
  });
});

/** An entry of its text. @throws where it is none that this probelab writes. */
export function parseEntry(text: string): Entry {
  return schema().parse(JSON.parse(text));
}

/** Merges entries: the last value of each field, all list items, the timeline sorted. Figures stand in the order in which they were added first, each with a name of its own. */
export function sumOf(entries: readonly Entry[]): {
  readonly draft: Draft;
  readonly figures: readonly EntryFigure[];
} {
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
