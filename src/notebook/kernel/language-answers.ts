import type { CellSession } from "../cell-session.js";
import { ts } from "../cell-language.js";

type Content = Readonly<Record<string, unknown>>;

/** Completions at the cursor: those that start with the word there, then those that contain it. */
export function completeReply(session: CellSession, { code, cursor_pos }: Content): object {
  const text = String(code);
  const { entries, start, end } = session.completions(text, toUtf16(text, Number(cursor_pos)));
  const word = text.slice(start, end).toLowerCase();
  const matches = entries
    .flatMap(({ name, kind, sortText }) => {
      const at = name.toLowerCase().indexOf(word);
      return at < 0 ? [] : [{ name, kind, order: `${Math.min(at, 1)}${sortText}` }];
    })
    .sort((a, b) => a.order.localeCompare(b.order));
  const [from, to] = [toCharacters(text, start), toCharacters(text, end)];
  const types = matches.map(({ name, kind }) => ({ text: name, type: kind, start: from, end: to }));
  return {
    status: "ok",
    matches: matches.map(({ name }) => name),
    cursor_start: from,
    cursor_end: to,
    metadata: { _jupyter_types_experimental: types },
  };
}

/** The signature, documentation and tags of the name at the cursor. */
export function inspectReply(session: CellSession, { code, cursor_pos }: Content): object {
  const text = String(code);
  const info = session.inspect(text, toUtf16(text, Number(cursor_pos)));
  if (!info) return { status: "ok", found: false, data: {}, metadata: {} };
  const signature = ts.displayPartsToString(info.displayParts);
  const documentation = ts.displayPartsToString(info.documentation);
  const tags = (info.tags ?? []).map(({ name, text: parts }) => ({
    name,
    text: ts.displayPartsToString(parts),
  }));
  const plain = tags.map(({ name, text }) => `@${name} ${text}`.trimEnd()).join("\n");
  const markdown = tags.map(({ name, text }) =>
    name === "example" ? `*Example*\n\n\`\`\`typescript\n${text}\n\`\`\`` : `*@${name}* ${text}`,
  );
  const joined = (blocks: string[]) => blocks.filter((block) => block !== "").join("\n\n");
  return {
    status: "ok",
    found: true,
    data: {
      "text/plain": joined([signature, documentation, plain]),
      "text/markdown": joined([
        `\`\`\`typescript\n${signature}\n\`\`\``,
        documentation,
        ...markdown,
      ]),
    },
    metadata: {},
  };
}

/** Jupyter counts characters, JavaScript counts UTF-16 units. */
function toUtf16(text: string, characters: number): number {
  return Array.from(text).slice(0, characters).join("").length;
}

function toCharacters(text: string, units: number): number {
  return Array.from(text.slice(0, units)).length;
}
