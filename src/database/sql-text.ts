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
  /'(?:[^'\\]|\\[^]|'')*(?:'|$)|"(?:[^"\\]|\\[^]|"")*(?:"|$)|`(?:[^`\\]|\\[^]|``)*(?:`|$)|--[^\n]*|#[ !][^\n]*|\/\*[^]*?(?:\*\/|$)|\$(\w*)\$[^]*?(?:\$\1\$|$)/g;

/** Cuts SQL into code and quoted parts; joined again they are the text. */
export function sqlParts(sql: string): Part[] {
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

/** Replaces in code only, never inside a string or a comment. */
export function replaceInCode(
  sql: string,
  pattern: RegExp,
  replace: (match: string, ...groups: (string | undefined)[]) => string,
): string {
  return sqlParts(sql)
    .map((part) => (part.code ? part.text.replace(pattern, replace) : part.text))
    .join("");
}
