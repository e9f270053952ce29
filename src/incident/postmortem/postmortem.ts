import { inspect } from "node:util";
import { checkOptions, type Rule, type Rules } from "../../base/check-options.js";
import { ProbelabError } from "../../base/error.js";
import { Chart } from "../../chart/chart-value.js";
import { Table } from "../../chart/table.js";
import { untilDone } from "../../base/pending-work.js";
import { documentBlocks } from "./document/document.js";
import { previewMarkdown } from "./document/document-markdown.js";
import {
  described,
  inOrder,
  instantText,
  readFields,
  readText,
  UNTOLD,
  type PostmortemFields,
  type When,
} from "./fields.js";
import { figureName, recordOf, titleOf, webAddress, type Figure } from "./figure.js";
import type { SaveOptions } from "./folder/save.js";
import { maskDraft, wordMask } from "./folder/mask-postmortem.js";
import type { ActionRecord, Draft, Told } from "./record.js";

/** What a statement rests on: a chart or a table (added where it isn't yet), or a web address. */
export type EvidenceSource = Chart | Table | string;

/** What is done so that it doesn't happen again, or is noticed sooner. */
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
  #told: Told;
  readonly #figures = new Map<Chart | Table, Figure>();
  readonly #findings: { text: string; evidence: EvidenceSource[] }[] = [];
  readonly #timeline: { time: string; event: string; evidence: EvidenceSource[] }[] = [];
  readonly #actions: ActionRecord[] = [];

  constructor(fields: PostmortemFields) {
    const read = readFields(fields);
    for (const name of ["title", "severity", "detectedAt"] as const) {
      if (read[name] === undefined) {
        throw new ProbelabError(
          `Can't begin a postmortem without ${name}: pass { title: "…", severity: 2, detectedAt: "2026-05-04T08:40:00Z" }.`,
        );
      }
    }
    this.#told = inOrder({ ...UNTOLD, ...read } as Told);
  }

  /** Says more, or says it anew: `report.set({ status: "final", resolvedAt: "2026-05-05" })`. */
  set(fields: Partial<PostmortemFields>): this {
    this.#told = inOrder({ ...this.#told, ...readFields(fields) });
    return this;
  }

  /**
   * Adds a chart or a table, in the order in which they stand. One that is there already keeps its
   * place, and gets what is new of its caption and name.
   *
   * @param options `caption`: what it shows, in a sentence (default: its title); `name`: of its files,
   *   small letters, digits and hyphens (default: made of its title).
   * @throws ProbelabError for a name that is taken.
   */
  add(content: Chart | Table, options: FigureOptions = {}): this {
    checkOptions(options, FIGURE, "add a figure");
    this.#figure(content, options);
    return this;
  }

  /**
   * Adds a finding: what the data shows, and the charts, tables or addresses that show it.
   *
   * @example
   * report.finding("Runs of 3.11.0 end after half the time.", durations, summary);
   */
  finding(text: string, ...evidence: readonly EvidenceSource[]): this {
    const told = readText(text, "a finding");
    this.#findings.push({ text: told, evidence: evidence.map((each) => this.#evidence(each)) });
    return this;
  }

  /** Adds an entry to the timeline; entries are sorted by their times, which are written in UTC. */
  timeline(time: When, event: string, ...evidence: readonly EvidenceSource[]): this {
    this.#timeline.push({
      time: instantText(time, "time of a timeline entry"),
      event: readText(event, "a timeline entry"),
      evidence: evidence.map((each) => this.#evidence(each)),
    });
    this.#timeline.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    return this;
  }

  /** Adds an action item. */
  action(action: Action): this {
    checkOptions(action ?? null, ACTION, "add an action item");
    const { owner, reference, due } = action;
    this.#actions.push({
      what: readText(action.what, "an action item"),
      type: action.type ?? "prevent",
      owner: owner ?? null,
      reference: reference ?? null,
      due: due === undefined ? null : instantText(due, "due time of an action item"),
      done: action.done ?? false,
    });
    return this;
  }

  /** Everything told so far. */
  get draft(): Draft {
    const named = <T extends { readonly evidence: readonly EvidenceSource[] }>(each: T) => ({
      ...each,
      evidence: each.evidence.map((source) =>
        typeof source === "string"
          ? { link: source }
          : { figure: this.#figures.get(source)?.name ?? "" },
      ),
    });
    return structuredClone({
      ...this.#told,
      findings: this.#findings.map(named),
      timeline: this.#timeline.map(named),
      actions: this.#actions,
    });
  }

  /** The charts and tables, in order. */
  get figures(): readonly Figure[] {
    return [...this.#figures.values()];
  }

  /**
   * Writes the postmortem as a folder, whole or not at all: `postmortem.md`, `.html` and `.pdf`;
   * `charts/` (SVG and PNG), `data/` (the rows of every chart and table, as Parquet and CSV),
   * `queries/` (SQL with its parameters), `postmortem.json` and `manifest.json` (hashes).
   * `probelab postmortem verify DIR` checks it, and draws it anew from `data/`.
   *
   * E-mail and IP addresses are masked in all figures and words; people's names stay as they are.
   *
   * A folder that `save` wrote before is replaced, unless its title or detection is another, or somebody
   * changed, added or removed a file in it.
   *
   * @returns the absolute path.
   * @throws ProbelabError where the folder holds anything else, or can't be written.
   * @example
   * await report.save("postmortems/2026-05-04-short-runs");
   */
  async save(directory: string, options: SaveOptions = {}): Promise<string> {
    if (typeof directory !== "string" || directory === "") {
      throw new ProbelabError(
        `Can't save a postmortem in ${described(directory)}: pass the path of a folder, "postmortems/2026-05-04".`,
      );
    }
    checkOptions(options, SAVE, "save a postmortem");
    return untilDone(async () => {
      // Loaded when it is needed: every kernel would wait for it at its start.
      const { savePostmortem } = await import("./folder/save.js");
      return savePostmortem(this, directory, options);
    });
  }

  /** The whole text as Markdown, with what the severity demands and what nobody has written yet. */
  toString(): string {
    const mask = wordMask(this.figures);
    const figures = this.figures.map((figure) => ({ ...figure, caption: mask(figure.caption) }));
    const record = recordOf(maskDraft(this.draft, mask), figures, new Date(), true);
    return previewMarkdown(documentBlocks(record, figures));
  }

  [inspect.custom](): string {
    return this.toString();
  }

  /** What a notebook shows. */
  [Symbol.for("Jupyter.display")](): Record<string, unknown> {
    const text = this.toString();
    return { "text/markdown": text, "text/plain": text };
  }

  #evidence(source: EvidenceSource): EvidenceSource {
    if (source instanceof Chart || source instanceof Table) this.#figure(source, {});
    else if (typeof source !== "string" || webAddress(source) === undefined) {
      throw new ProbelabError(
        `Can't rest a statement on ${described(source)}: pass a chart, a table, or an address that begins with https://.`,
      );
    }
    return source;
  }

  #figure(content: Chart | Table, { caption, name }: FigureOptions): void {
    if (!(content instanceof Chart) && !(content instanceof Table)) {
      throw new ProbelabError(
        `Can't add ${described(content)} to a postmortem: pass a chart (chart.line(result)) or a table (table(result)).`,
      );
    }
    const before = this.#figures.get(content);
    const title = titleOf(content);
    this.#figures.set(content, {
      name: name === undefined && before ? before.name : this.#name(name, title, content),
      caption: (caption ?? before?.caption ?? title).trim(),
      content,
    });
  }

  #name(wanted: string | undefined, title: string, content: Chart | Table): string {
    const others = this.figures.filter((figure) => figure.content !== content);
    const taken = new Set(others.map(({ name }) => name));
    const mask = wordMask([...others, { content }]);
    // A file's name is read by everybody: whatever becomes of the title, it holds no address.
    if (wanted === undefined) return figureName(mask(title), taken);
    const free = figureName(mask(wanted), taken, 80);
    if (wanted === free) return free;
    const reason = taken.has(wanted)
      ? "another figure has that name; use another"
      : mask(wanted) !== wanted
        ? "it holds an address, and names of files are never masked; use another"
        : "use up to 80 small letters, digits and hyphens";
    throw new ProbelabError(
      `Can't name a figure's files ${JSON.stringify(wanted)}: ${reason}, such as ${JSON.stringify(free)}.`,
    );
  }
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
export function postmortem(fields: PostmortemFields): Postmortem {
  return new Postmortem(fields);
}
