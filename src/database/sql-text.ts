/** A part of a SQL text: code that runs, or a string, quoted name or comment that only looks like it. */
interface Part {
  readonly code: boolean;
  readonly text: string;
}

/**
 * ClickHouse's quotes and comments: '…', "…", `…` (backslash or doubled quotes), -- and #! lines,
 * C comments, heredocs ($tag$…$tag$). An open one goes to the end of the text.
 */
const QUOTED =
  /'(?:[^'\\]|\\[^]|'')*(?:'|$)|"(?:[^"\\]|\\[^]|"")*(?:"|$)|`(?:[^`\\]|\\[^]|``)*(?:`|$)|--[^\n]*|#[ !][^\n]*|\/\*[^]*?(?:\*\/|$)|\$(?<tag>\w*)\$[^]*?(?:\$\k<tag>\$|$)/g;

/** Cuts SQL into code and quoted parts; joined again they are the text. */
function sqlParts(sql: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of sql.matchAll(QUOTED)) {
    if (match.index > end) parts.push({ code: true, text: sql.slice(end, match.index) });
    parts.push({ code: false, text: match[0] });
    end = match.index + match[0].length;
  }
  if (end < sql.length) parts.push({ code: true, text: sql.slice(end) });
  return parts;
}

/** The text with strings, quoted names and comments blanked out: what the server would run. */
export function sqlCode(sql: string): string {
  return sqlParts(sql)
    .map((part) => (part.code ? part.text : " "))
    .join("");
}

/**
 * Replaces what begins in code, never inside a string or a comment; what is replaced may hold quoted
 * names, such as those of a placeholder.
 */
export function replaceInCode(
  sql: string,
  pattern: RegExp,
  replace: (match: string, ...groups: (string | undefined)[]) => string,
): string {
  const either = new RegExp(`(?<found>${pattern.source})|${QUOTED.source}`, pattern.flags);
  return sql.replace(
    either,
    (match, found: string | undefined, ...groups: (string | undefined)[]) =>
      found === undefined ? match : replace(found, ...groups),
  );
}

/** A regular expression's source for a name in backquotes. */
export const QUOTED_NAME = "`(?:[^`\\\\]|\\\\[^]|``)*`";

/** The same for a name as SQL writes it: bare or quoted. */
export const NAME = `\\w+|${QUOTED_NAME}|"(?:[^"\\\\]|\\\\[^]|"")*"`;

/** The name that a {@link NAME} stands for. */
export function nameOf(written: string): string {
  const quote = written[0] ?? "";
  if (quote !== "`" && quote !== '"') return written;
  const pairs = /\\([`"'\\])|``|""/g;
  return written
    .slice(1, -1)
    .replace(pairs, (pair, sign?: string) => sign ?? (pair === quote + quote ? quote : pair));
}
