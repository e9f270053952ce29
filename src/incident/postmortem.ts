import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { inspect } from "node:util";
import { checkOptions, type Rule, type Rules } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { shownValue } from "../base/text.js";
import { trackPending } from "../base/pending-work.js";
import { isFinding, type Finding } from "../change/finding.js";
import {
  changeChart,
  Chart,
  evidenceChart,
  findingTable,
  howMuchOf,
  table,
  Table,
} from "../chart/page.js";
import { maskAddresses, maskOf, versionsOf } from "../result/mask.js";
import { documentBlocks, previewMarkdown } from "./document.js";
import {
  described,
  entryOf,
  inOrder,
  instantText,
  pastText,
  readFields,
  readText,
  said,
  sumOf,
  thisSecond,
  type Draft,
  type Entry,
  type EntryFigure,
  type Evidence,
  type EntryContent,
  type PostmortemFields,
  type TimelineEntry,
  type When,
} from "./record.js";
import {
  figureName,
  figureRecord,
  titleOf,
  webAddress,
  type Content,
  type Figure,
} from "./figure.js";
import type { Journal } from "./living.js";
import type { SaveOptions } from "./save.js";

/** Evidence: a chart, a table or a finding, which is added where it isn't yet, or a web address. */
export type EvidenceSource = Content | Finding | string;

/** The figures of findings, so that a finding has them once however often it is evidence. */
const figuresOf = new WeakMap<Finding, readonly Content[]>();

/**
 * The picture of a finding, that of its evidence where it has one, and the table of its causes or changes;
 * of one without a picture the table alone.
 */
function contentsOf(finding: Finding): readonly Content[] {
  const known = figuresOf.get(finding);
  if (known !== undefined) return known;
  const { kind, headline, result } = finding;
  const rows = table(result, { ...findingTable(finding), caption: headline });
  const picture = (): Content =>
    evidenceChart(finding, {}, false) ?? changeChart(finding, {}, false);
  const withTable = kind === "explain" || kind === "release";
  const made = kind === "freshness" ? [rows] : withTable ? [picture(), rows] : [picture()];
  figuresOf.set(finding, made);
  return made;
}

/** An action item: it prevents the next incident, or notices it sooner. */
export interface Action {
  readonly what: string;
  /** `"prevent"`, `"detect"`, `"mitigate"`, or the team's own word. */
  readonly type?: string;
  readonly owner?: string;
  /** An issue's number or address. */
  readonly reference?: string;
  readonly due?: When;
  readonly done?: boolean;
}

/** The caption and the name of a figure. */
export interface FigureOptions {
  /** A sentence about the figure. @default its title */
  readonly caption?: string;
  /** Of its files: small letters, digits and hyphens. @default made of its title */
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
  what: text,
  type: text,
  owner: text,
  reference: text,
  due: time,
  done: flag,
} satisfies Rules<Action>;
const SAVE = { maskAddresses: flag, replaceChanges: flag, now: time } satisfies Rules<SaveOptions>;

/**
 * A postmortem that is being written: its words, its charts and tables with their data. A value that
 * a notebook shows, with what is still missing; `save` writes the folder.
 */
export class Postmortem {
  #entries: readonly Entry[];
  readonly #journal: Journal | undefined;
  readonly #contents = new Map<string, Content>();
  readonly #ids = new Map<Content, string>();

  constructor(entries: readonly Entry[], journal?: Journal) {
    this.#entries = entries;
    this.#journal = journal;
  }

  /**
   * Reads the entries that others added to a postmortem of `postmortem.open`.
   *
   * @throws ProbelabError where its folder can't be read.
   * @example
   * await report.reload();
   */
  async reload(): Promise<this> {
    if (this.#journal === undefined) return this;
    const { entries, contents } = await this.#journal.read(this.#contents);
    for (const [id, content] of contents) {
      this.#contents.set(id, content);
      this.#ids.set(content, id);
    }
    this.#entries = entries;
    return this;
  }

  /**
   * Adds or replaces fields.
   *
   * @throws ProbelabError for unknown fields and wrong values.
   * @example
   * report.set({ status: "final", resolvedAt: "2026-05-05" });
   */
  set(fields: Partial<PostmortemFields>): this {
    return this.#add({ facts: readFields(fields) });
  }

  /**
   * Adds a chart or a table, in the order in which they stand. One that is there already keeps its
   * place, and gets what is new of its caption and name.
   *
   * @param options `caption`: what it shows, in a sentence (default: its title); `name`: of its files,
   *   small letters, digits and hyphens (default: made of its title).
   * @throws ProbelabError for a name that is taken.
   * @example
   * report.add(chart.area(counts), { caption: "Measurements per week fell by half." });
   */
  add(content: Content, options: FigureOptions = {}): this {
    checkOptions(options, FIGURE, "add a figure");
    const figures: EntryFigure[] = [];
    this.#figure(content, options, figures);
    return this.#add({ figures });
  }

  /**
   * Adds a finding: what the data shows, and the charts, tables, findings or addresses that show it.
   *
   * @param found a sentence, or what `explain`, `lab.release` and others answered: its headline, its
   *   evidence and the size of the change are the text, its picture and its table the first figures.
   * @example
   * report.finding("Runs of 3.11.0 end after half the time.", durations, summary);
   * report.finding(await explain(lab.measurements, { before, after }), chart.area(counts));
   */
  finding(found: string | Finding, ...evidence: readonly EvidenceSource[]): this {
    const told = isFinding(found);
    const parts = told ? [`${found.headline}.`, found.evidence, howMuchOf(found)] : [];
    const sentence = readText(told ? parts.filter(Boolean).join(" ") : found, "a finding");
    const { rests, figures } = this.#evidence(told ? [found, ...evidence] : evidence);
    const moved = told && found.moved?.length ? { moved: found.moved } : {};
    return this.#add({ figures, findings: [{ text: sentence, evidence: rests, ...moved }] });
  }

  /**
   * Takes a finding out that holds no more; the timeline says so.
   *
   * @param beginning of its text, as far as it tells the finding from the others.
   * @throws ProbelabError where none or several begin with it.
   * @example
   * report.withdraw("Runs of 3.11.0 end");
   */
  withdraw(beginning: string): this {
    const start = readText(beginning, "the beginning of a finding");
    const texts = this.draft.findings.map(({ text }) => text);
    const found = texts.filter((text) => text.startsWith(start));
    if (found.length !== 1) {
      const list = (found.length === 0 ? texts : found).map((text) => shownValue(text, 80));
      throw new ProbelabError(
        `Can't withdraw ${shownValue(start)}: ${found.length === 0 ? "no finding begins" : `${found.length} findings begin`} with it. Pass the beginning of one: ${list.join(", ") || "there is none yet"}.`,
      );
    }
    const event = this.#said(`Withdrawn: ${found[0]!}`, thisSecond());
    return this.#add({ withdrawn: found, timeline: [event] });
  }

  /**
   * Adds an entry to the timeline; entries are sorted by their times, which are written in UTC.
   *
   * @throws ProbelabError for a time that can't be read.
   * @example
   * report.timeline("2026-03-20T08:40Z", "The alarm called.");
   */
  timeline(time: When, event: string, ...evidence: readonly EvidenceSource[]): this {
    const at = pastText(time, "time of a timeline entry");
    const sentence = readText(event, "a timeline entry");
    const { rests, figures } = this.#evidence(evidence);
    return this.#add({ figures, timeline: [{ time: at, event: sentence, evidence: rests }] });
  }

  /**
   * Says that the incident is over, and what ended it; `save` writes its postmortem.
   *
   * @param time default now; a text is read in UTC.
   */
  close(text: string, time: When = thisSecond()): this {
    const facts = { resolvedAt: pastText(time, "time of a closing"), status: "closed" };
    const event = `Closed: ${readText(text, "a closing")}`;
    return this.#add({ facts, timeline: [this.#said(event, time)] });
  }

  #said(event: string, time: When): TimelineEntry {
    return said(event, pastText(time, "time of a timeline entry"), this.#journal?.author);
  }

  /**
   * Adds an action item.
   *
   * @throws ProbelabError for unknown fields and wrong values.
   * @example
   * report.action({ what: "Alert on run length", type: "detect", owner: "B. Analyst" });
   */
  action(action: Action): this {
    checkOptions(action ?? null, ACTION, "add an action item");
    const { type = "prevent", owner = null, reference = null, due, done = false } = action;
    const what = readText(action.what, "an action item");
    const until = due === undefined ? null : instantText(due, "due time of an action item");
    return this.#add({ actions: [{ what, type, owner, reference, due: until, done }] });
  }

  /** Everything known so far. */
  get draft(): Draft {
    return sumOf(this.#entries).draft;
  }

  /** The charts and tables, in order. */
  get figures(): readonly Figure[] {
    return sumOf(this.#entries).figures.map(({ id, name, caption }) => ({
      name,
      caption,
      content: this.#contents.get(id)!,
    }));
  }

  /**
   * Writes the postmortem as a folder, whole or not at all: `postmortem.md` and `.html`;
   * `charts/` (SVG and PNG), `data/` (the rows of every chart and table, as Parquet and CSV),
   * `queries/` (SQL with its parameters), `postmortem.json` and `SHA256SUMS`.
   * `sha256sum -c SHA256SUMS` in the folder checks the hashes.
   *
   * E-mail and IP addresses are masked in all figures and words; people's names stay as they are.
   *
   * A folder that `save` wrote before is replaced, unless its title or detection is another, or somebody
   * changed, added or removed a file in it.
   *
   * @param directory of a postmortem of `postmortem.open` default `postmortem` in its own folder; what
   *   others have written until now is in it.
   * @returns the absolute path.
   * @throws ProbelabError where the folder holds anything else, or can't be written.
   * @example
   * await report.save("postmortems/2026-05-04-short-runs");
   */
  async save(directory?: string, options: SaveOptions = {}): Promise<string> {
    directory ??= this.#journal && join(this.#journal.folder, "postmortem");
    if (typeof directory !== "string" || directory === "") {
      throw new ProbelabError(
        `Can't save a postmortem in ${described(directory)}: pass the path of a folder, "postmortems/2026-05-04".`,
      );
    }
    checkOptions(options, SAVE, "save a postmortem");
    return trackPending(async () => {
      // Loaded when it is needed: every kernel would wait for it at its start.
      const { savePostmortem } = await import("./save.js");
      return savePostmortem(await this.reload(), directory, options);
    });
  }

  /** The whole text as Markdown, with what the severity demands and what is still missing. */
  toString(): string {
    const { draft, figures } = this;
    const mask = maskOf({ versions: versionsOf(figures.map(({ content }) => content.result)) });
    return mask(previewMarkdown(documentBlocks(draft, figures, { at: new Date(), missing: true })));
  }

  [inspect.custom](): string {
    return this.toString();
  }

  /** The outputs of a notebook. */
  [Symbol.for("Jupyter.display")](): Record<string, unknown> {
    const text = this.toString();
    return { "text/markdown": text, "text/plain": text };
  }

  #add({ figures = [], ...part }: EntryContent): this {
    const entry = entryOf(
      { ...part, ...(figures.length > 0 && { figures }) },
      this.#journal?.author,
    );
    if (part.facts !== undefined) inOrder({ ...this.draft, ...part.facts });
    this.#journal?.append(entry, this.#contents);
    this.#entries = [...this.#entries, entry];
    return this;
  }

  #evidence(sources: readonly EvidenceSource[]) {
    const figures: EntryFigure[] = [];
    const rests = sources.flatMap((source): Evidence[] => {
      const contents = isFinding(source) ? contentsOf(source) : [source];
      if (contents.every(isContent)) {
        return contents.map((content) => ({ figure: this.#figure(content, {}, figures) }));
      }
      if (typeof source === "string" && webAddress(source) !== undefined) return [{ link: source }];
      throw new ProbelabError(
        `Can't rest a statement on ${described(source)}: pass a chart, a table, a finding, or an address that begins with https://.`,
      );
    });
    return { rests, figures };
  }

  /** @param added gets the figure's record where it is new or changed. @returns its id. */
  #figure(content: Content, { caption, name }: FigureOptions, added: EntryFigure[]): string {
    if (!isContent(content)) {
      throw new ProbelabError(
        `Can't add ${described(content)} to a postmortem: pass a chart (chart.line(result)) or a table (table(result)).`,
      );
    }
    const id = this.#ids.get(content) ?? randomBytes(8).toString("hex");
    const { figures } = sumOf([...this.#entries, entryOf({ figures: added })]);
    const before = figures.find((figure) => figure.id === id);
    if (before !== undefined && caption === undefined && name === undefined) return id;
    const title = titleOf(content);
    const taken = new Set(figures.flatMap((each) => (each.id === id ? [] : [each.name])));
    // A file's name is read by everybody: whatever becomes of the title, it holds no address.
    const made = name === undefined ? before?.name : checkedName(name, taken);
    const figure = {
      name: made ?? figureName(maskAddresses(title), taken),
      caption: (caption ?? before?.caption ?? title).trim(),
      content,
    };
    this.#ids.set(content, id);
    this.#contents.set(id, content);
    added.push({ id, ...figureRecord(figure) });
    return id;
  }
}

function checkedName(wanted: string, taken: ReadonlySet<string>): string {
  const free = figureName(maskAddresses(wanted), taken, 80);
  if (wanted === free) return free;
  const reason = taken.has(wanted)
    ? "another figure has that name; use another"
    : maskAddresses(wanted) !== wanted
      ? "it holds an address, and names of files are never masked; use another"
      : "use up to 80 small letters, digits and hyphens";
  throw new ProbelabError(
    `Can't name a figure's files ${JSON.stringify(wanted)}: ${reason}, such as ${JSON.stringify(free)}.`,
  );
}

function isContent(value: unknown): value is Content {
  return value instanceof Chart || value instanceof Table;
}

/** A postmortem that has its title, severity and detection. */
function begin(fields: PostmortemFields): Postmortem {
  const read = readFields(fields);
  for (const name of ["title", "severity", "detectedAt"] as const) {
    if (read[name] === undefined) {
      throw new ProbelabError(
        `Can't begin a postmortem without ${name}: pass { title: "…", severity: 2, detectedAt: "2026-05-04T08:40:00Z" }.`,
      );
    }
  }
  inOrder(read);
  return new Postmortem([entryOf({ facts: read })]);
}

/**
 * Begins a postmortem. See {@link Postmortem} for what can be added.
 *
 * @throws ProbelabError without title, severity or detectedAt, or for a field it doesn't know.
 * @example
 * const report = postmortem({
 *   title: "Short runs after 3.11.0",
 *   severity: 3,
 *   detectedAt: "2026-05-04T08:40:00Z",
 *   summary: "Runs of the new release ended after half their tests.",
 * });
 * report.finding("Runs end early; their tests are as fast as before.", chart.line(durations));
 * await report.save("postmortems/2026-05-04-short-runs");
 */
export const postmortem = Object.assign(begin, {
  /**
   * The postmortem of an incident's folder that `probelab incident open` began. What is added to it is
   * on the disk when the call returns, so that several kernels and shells write one folder.
   *
   * @param options `author`: who writes; default `PROBELAB_AUTHOR`, else the user's name.
   * @throws ProbelabError where the folder holds no incident, or an entry that can't be read.
   * @example
   * const report = await postmortem.open("incidents/2026-05-04-short-runs");
   * report.finding("Runs end early.", chart.line(durations));
   */
  async open(folder: string, options: { readonly author?: string } = {}): Promise<Postmortem> {
    checkOptions(options, { author: text }, "open an incident");
    // Loaded when it is needed: every kernel would wait for it at its start.
    const { openJournal } = await import("./living.js");
    return new Postmortem([], await openJournal(folder, options.author)).reload();
  },
});

/**
 * An incident's postmortem to add words to: the files of its figures aren't read, so that a damaged one
 * keeps nobody from adding.
 *
 * @throws ProbelabError if the folder holds no incident.
 */
export async function openWords(directory: string, author?: string): Promise<Postmortem> {
  const { openJournal, readEntries } = await import("./living.js");
  const journal = await openJournal(directory, author);
  return new Postmortem((await readEntries(journal.folder)).entries, journal);
}
