import { completeness } from "../cell-compiler.js";
import type { CellSession } from "../cell-session.js";
import { ts } from "../typescript.js";

type Content = Readonly<Record<string, unknown>>;

export function completeReply(session: CellSession, { code, cursor_pos }: Content): object {
  const text = String(code);
  const { start, end, entries } = session.complete(text, toUtf16(text, Number(cursor_pos)));
  const [from, to] = [toCharacters(text, start), toCharacters(text, end)];
  return {
    status: "ok",
    matches: entries.map(({ name }) => name),
    cursor_start: from,
    cursor_end: to,
    metadata: {
      _jupyter_types_experimental: entries.map(({ name, kind }) => ({
        text: name,
        type: kind,
        start: from,
        end: to,
      })),
    },
  };
}

/** What a hover shows: the signature, the documentation and the tags of the name at the cursor. */
export function inspectReply(session: CellSession, { code, cursor_pos }: Content): object {
  const text = String(code);
  const info = session.inspect(text, toUtf16(text, Number(cursor_pos)));
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

export function isCompleteReply({ code }: Content): object {
  try {
    const { complete, indent } = completeness(String(code));
    return complete ? { status: "complete" } : { status: "incomplete", indent };
  } catch {
    return { status: "unknown" }; // Nested too deeply; running it tells so.
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
