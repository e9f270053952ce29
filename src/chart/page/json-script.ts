const ESCAPES: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** A value as a data block of an HTML page: nothing in it can end the block or begin a comment. */
export function jsonScript(className: string, value: unknown): string {
  const json = JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => ESCAPES[character] ?? "",
  );
  return `<script type="application/json" class="${className}">${json}</script>`;
}
