import { ProbelabError } from "../../../base/error.js";
import { redact } from "../../../base/redact.js";
import { addressMask, type AddressNumbers, type Change } from "../../../mask/addresses.js";
import { mapTexts, maskResult, versionsOf } from "../../../mask/mask-result.js";
import type { Result } from "../../../result/result.js";
import type { Draft, Evidence } from "../record.js";
import { drawFigure, figureRecord, type Figure } from "../figure.js";

/**
 * Changes the words of a postmortem: no secrets, and unless `masked` is false no addresses. The versions
 * of its figures are no addresses, wherever they are written.
 */
export function wordMask(figures: readonly Pick<Figure, "content">[], masked = true): Change {
  if (!masked) return redact;
  const mask = addressMask(versionsOf(resultsOf(figures)));
  return (text) => mask(redact(text));
}

/** A draft with its words changed; names of people stay, and a link that holds an address is one no longer. */
export function maskDraft(draft: Draft, change: Change): Draft {
  const { authors, leader, findings, timeline, actions, ...words } = draft;
  const withEvidence = <T extends { readonly evidence: readonly Evidence[] }>(each: T): T => ({
    ...mapTexts(each, change),
    evidence: each.evidence.map((evidence) => {
      if (!("link" in evidence)) return evidence;
      const text = change(evidence.link);
      return text === redact(evidence.link) ? { link: text } : { text };
    }),
  });
  return {
    ...mapTexts(words, change),
    findings: findings.map(withEvidence),
    timeline: timeline.map(withEvidence),
    actions: actions.map((each) => ({
      ...mapTexts(each, change),
      owner: mapTexts(each.owner, redact),
    })),
    authors: authors.map(redact),
    leader: mapTexts(leader, redact),
  };
}

/**
 * Figures drawn anew of their masked rows, each address with one number within a figure.
 *
 * @throws ProbelabError where a spec of Vega-Lite would name a column that is called after an address.
 */
export function maskFigures(figures: readonly Figure[], masked: boolean): Figure[] {
  const versions = versionsOf(resultsOf(figures));
  return figures.map((figure) => {
    const numbers: AddressNumbers = new Map();
    const without = (known: ReadonlySet<string>): Change => {
      const mask = addressMask(known, numbers);
      return masked ? (text) => mask(redact(text)) : redact;
    };
    // In rows only versions of the figure itself stay.
    const own = versionsOf(resultsOf([figure]));
    return maskFigure(figure, without(own), without(versions));
  });
}

function resultsOf(figures: readonly Pick<Figure, "content">[]): Result[] {
  return figures.map(({ content }) => content.result);
}

function maskFigure(figure: Figure, rows: Change, words: Change): Figure {
  const { result } = figure.content;
  const changed = maskResult(result, rows);
  const { caption, recipe, ...record } = figureRecord(figure);
  const renames = new Map(
    result.columnNames().flatMap((name, at) => {
      const now = changed.columnNames()[at];
      return now === undefined || now === name ? [] : [[name, now] as const];
    }),
  );
  const [renamed] = renames.keys();
  if (renamed !== undefined && isOwnSpec(recipe)) {
    throw new ProbelabError(
      `Can't mask the addresses of the chart ${figure.name}: its column ${JSON.stringify(renamed)} is called after one, and its own spec may name columns. Call the column otherwise (AS … in the SQL, or result.rename), or save with maskAddresses: false.`,
    );
  }
  const drawn = mapTexts(recipe, (text) => renames.get(text) ?? words(text));
  return changed === result && JSON.stringify(drawn) === JSON.stringify(recipe)
    ? { ...figure, caption: words(caption) }
    : drawFigure({ ...record, caption: words(caption), recipe: drawn }, changed);
}

function isOwnSpec(recipe: unknown): boolean {
  return typeof recipe === "object" && recipe !== null && "spec" in recipe;
}
