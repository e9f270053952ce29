import type { CellSession } from "../cell-session.js";
import { ts } from "../cell-language.js";

type Content = Readonly<Record<string, unknown>>;

/** Completions at the cursor: names that start with the word there, then those that contain it. */
export function completeReply(session: CellSession, { code, cursor_pos }: Content): object {
  const text = String(code);
  const position = toUtf16(text, Number(cursor_pos));
  const start = position - (/[\w$]*$/.exec(text.slice(0, position))?.[0].length ?? 0);
  const end = position + (/^[\w$]*/.exec(text.slice(position))?.[0].length ?? 0);
  const word = text.slice(start, end);
  const fits = [
    (name: string) => name.startsWith(word),
    (name: string) => name.toLowerCase().startsWith(word.toLowerCase()),
    (name: string) => name.toLowerCase().includes(word.toLowerCase()),
  ];
  const entries = session
    .completions(text, position)
    .flatMap(({ name, kind, sortText }) => {
      const rank = fits.findIndex((fit) => fit(name));
      return rank < 0 ? [] : [{ name, kind, order: `${rank}${sortText}` }];
    })
    .sort((a, b) => a.order.localeCompare(b.order));
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
  const plain = [
    signature,
    documentation,
    tags.map((tag) => `@${tag.name} ${tag.text}`.trimEnd()).join("\n"),
  ];
  const markdown = [
    `\`\`\`typescript\n${signature}\n\`\`\``,
    documentation,
    ...tags.map((tag) =>
      tag.name === "example"
        ? `*Example*\n\n\`\`\`typescript\n${tag.text}\n\`\`\``
        : `*@${tag.name}* ${tag.text}`,
    ),
  ];
  const joined = (blocks: string[]) => blocks.filter((block) => block !== "").join("\n\n");
  return {
    status: "ok",
    found: true,
    data: { "text/plain": joined(plain), "text/markdown": joined(markdown) },
    metadata: {},
  };
}

/** Says if a console should run the code or read another line, and the indentation of that line. */
export function isCompleteReply({ code }: Content): object {
  const text = String(code);
  if (/(^|\n)\s*\n\s*$/.test(text) || !isOpen(text)) return { status: "complete" };
  const line = text.slice(text.lastIndexOf("\n") + 1);
  const indent = /^\s*/.exec(line)?.[0] ?? "";
  if (/^\s*[}\])]/.test(line)) return { status: "incomplete", indent: indent.slice(0, -2) };
  return { status: "incomplete", indent: /[{([][^}\])]*$/.test(line) ? `${indent}  ` : indent };
}

/** True if TypeScript expects something at the end of the code. */
function isOpen(code: string): boolean {
  try {
    const { diagnostics = [] } = ts.transpileModule(code, { reportDiagnostics: true });
    return diagnostics.some(({ start, length, messageText }) => {
      const text = typeof messageText === "string" ? messageText : messageText.messageText;
      return start === code.length && length === 0 && text.endsWith(" expected.");
    });
  } catch {
    return false; // Nested too deeply: running it says so.
  }
}

/** Jupyter counts characters, JavaScript counts UTF-16 units. */
function toUtf16(text: string, characters: number): number {
  return Array.from(text).slice(0, characters).join("").length;
}

function toCharacters(text: string, units: number): number {
  return Array.from(text.slice(0, units)).length;
}
