import { ts } from "../typescript.js";
import type { CellSession } from "../cell-session.js";

type Content = Readonly<Record<string, unknown>>;

/** Answers about code that isn't run: completion, documentation, whether a cell is complete. */
export class LanguageAnswers {
  readonly #session: CellSession;

  constructor(session: CellSession) {
    this.#session = session;
  }

  complete({ code, cursor_pos }: Content): object {
    const text = String(code);
    const position = toUtf16(text, Number(cursor_pos));
    const { start, end, candidates, original } = this.#session.complete(text, position);
    const kinds = new Map(original?.entries.map((entry) => [entry.name, String(entry.kind)]));
    const [from, to] = [toCharacters(text, start), toCharacters(text, end)];
    return {
      status: "ok",
      matches: candidates,
      cursor_start: from,
      cursor_end: to,
      metadata: {
        _jupyter_types_experimental: candidates.map((name) => ({
          text: name,
          type: kinds.get(name) ?? "",
          start: from,
          end: to,
        })),
      },
    };
  }

  inspect({ code, cursor_pos }: Content): object {
    const text = String(code);
    const info = this.#session.inspect(text, toUtf16(text, Number(cursor_pos)));
    if (!info) return { status: "ok", found: false, data: {}, metadata: {} };
    const signature = ts.displayPartsToString(info.displayParts);
    const documentation = ts.displayPartsToString(info.documentation);
    const tags = (info.tags ?? []).map((tag) =>
      `@${tag.name} ${ts.displayPartsToString(tag.text)}`.trimEnd(),
    );
    const blocks = [documentation, tags.join("\n")].filter((block) => block !== "");
    const markdown = [
      "```typescript\n" + signature + "\n```",
      documentation,
      ...tagsAsMarkdown(tags),
    ];
    return {
      status: "ok",
      found: true,
      data: {
        "text/plain": [signature, ...blocks].join("\n\n"),
        "text/markdown": markdown.filter((block) => block !== "").join("\n\n"),
      },
      metadata: {},
    };
  }

  isComplete({ code }: Content): object {
    try {
      const { completed, indent } = this.#session.isComplete(String(code));
      return completed ? { status: "complete" } : { status: "incomplete", indent: indent ?? "" };
    } catch {
      return { status: "unknown" }; // Nested too deeply; running it tells so.
    }
  }
}

function tagsAsMarkdown(tags: readonly string[]): string[] {
  return tags.map((tag) => {
    const [, name = "", text = ""] = /^@(\w+)\s*([^]*)$/.exec(tag) ?? [];
    return name === "example"
      ? `*Example*\n\n\`\`\`typescript\n${text}\n\`\`\``
      : `*@${name}* ${text}`;
  });
}

/** Jupyter counts characters, JavaScript counts UTF-16 units. */
function toUtf16(text: string, characters: number): number {
  let units = 0;
  let left = characters;
  for (const character of text) {
    if (left-- <= 0) break;
    units += character.length;
  }
  return units;
}

function toCharacters(text: string, units: number): number {
  return Array.from(text.slice(0, units)).length;
}
