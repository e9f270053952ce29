/** A position in a text; line and character (UTF-16) count from 0. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

export function positionOf(text: string, offset: number): Position {
  const above = text.slice(0, offset).split("\n");
  return { line: above.length - 1, character: above.at(-1)!.length };
}

export function offsetOf(text: string, { line, character }: Position): number {
  const above = text.split("\n").slice(0, line);
  return above.reduce((sum, each) => sum + each.length + 1, 0) + character;
}

/** A part of the edited text, and the part of the text that it stands for: of the same length if it was kept. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
}

/** Parts of a text replaced, and others put around parts of it; the edited text finds its way back. */
export class EditedText {
  readonly #text: string;
  readonly #openings = new Map<number, string>();
  readonly #closings = new Map<number, string>();
  readonly #replaced = new Map<number, { end: number; by: string }>();
  readonly #pieces: Piece[] = [];
  #js = "";

  constructor(text: string) {
    this.#text = text;
  }

  /** The edited text, when it is finished. */
  get js(): string {
    return this.#js;
  }

  /** Replaces the text from `start` to `end`, and removes what was put within. */
  replace(start: number, end: number, by = ""): void {
    this.#replaced.set(start, { end, by });
  }

  /** Puts texts around a part; what is put around later, at the same place, is within. */
  wrap(start: number, end: number, before: string, after: string): void {
    this.#openings.set(start, (this.#openings.get(start) ?? "") + before);
    this.#closings.set(end, after + (this.#closings.get(end) ?? ""));
  }

  /** Makes the edited text, below `head`. */
  finish(head: string): this {
    const { length } = this.#text;
    const places = [this.#openings, this.#closings, this.#replaced].flatMap((edits) => [
      ...edits.keys(),
    ]);
    let done = 0;
    const put = (text: string, end = done) => {
      const [from, start] = [this.#js.length, done];
      this.#js += text;
      done = end;
      if (text !== "") this.#pieces.push({ from, to: this.#js.length, start, end });
    };
    put(head);
    for (const at of [...new Set([...places, length])].sort((a, b) => a - b)) {
      if (at < done) continue;
      put(this.#text.slice(done, at), at);
      put((this.#closings.get(at) ?? "") + (this.#openings.get(at) ?? ""));
      const replaced = this.#replaced.get(at);
      if (replaced) put(replaced.by, replaced.end);
    }
    return this;
  }

  /** The position in the text of a position in the edited one. */
  positionOf(edited: Position): Position {
    const at = offsetOf(this.#js, edited);
    const piece = this.#pieces.findLast(({ from }) => from <= at)!;
    return positionOf(this.#text, Math.min(piece.start + at - piece.from, piece.end));
  }

  /** What was written where the edited text says `part`, such as a function; undefined where it doesn't. */
  written(part: string): string | undefined {
    const from = this.#js.indexOf(part);
    if (from < 0) return undefined;
    const within = this.#pieces.filter(
      (piece) => piece.end > piece.start && piece.to > from && piece.from < from + part.length,
    );
    const [first, last] = [within[0]!, within.at(-1)!];
    const isCut = last.to > from + part.length;
    return this.#text.slice(
      first.start + Math.max(0, from - first.from),
      isCut ? last.start + from + part.length - last.from : last.end,
    );
  }
}
