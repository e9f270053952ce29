/** A kind of varying text: how it is found, in the syntax that RE2 and JavaScript share, and what stands for it. */
interface Rule {
  readonly find: string;
  /** `$1` is what the first bracket found. */
  readonly put: string;
}

const HEX = "[0-9a-fA-F]";
const GROUPS = `${HEX}{1,4}(?::${HEX}{1,4})*`;

/** Sixteen or more letters and digits with a digit among them; RE2 can't look ahead, so each place is told. */
const LONG_ID = [
  ...Array.from({ length: 16 }, (_, at) => `[A-Za-z]{${at}}[0-9][A-Za-z0-9]{${15 - at},}`),
  "[A-Za-z]{16,}[0-9][A-Za-z0-9]*",
].join("|");

/** In the order in which they are applied. */
const RULES: readonly Rule[] = [
  {
    find: "[\\p{L}\\p{N}._%+-]+@[\\p{L}\\p{N}-]+(?:\\.[\\p{L}\\p{N}-]+)+",
    put: "<e-mail>",
  },
  {
    find: "\\b[0-9]{8}T[0-9]{6}Z_[a-z0-9]+_[A-Z]{2}_[0-9]+_[A-Za-z0-9-]+_[A-Za-z0-9]+",
    put: "<report-id>",
  },
  { find: `\\b${HEX}{8}(?:-${HEX}{4}){3}-${HEX}{12}\\b`, put: "<uuid>" },
  {
    find: "\\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?\\b",
    put: "<time>",
  },
  {
    find: `(?:\\b(?:${HEX}{1,4}:){7}${HEX}{1,4}\\b|\\b${GROUPS}::(?:${GROUPS}\\b|\\B)|\\B::${GROUPS}\\b)`,
    put: "<ip>",
  },
  { find: "\\b[0-9]{1,3}(?:\\.[0-9]{1,3}){3}\\b", put: "<ip>" },
  { find: "\\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?\\b", put: "<time>" },
  { find: "\\b([a-z_]*(?:cc|country_code)=)[A-Z]{2}\\b", put: "$1<cc>" },
  { find: "\\b[0-9]+(?:\\.[0-9]+)*\\b", put: "<n>" },
  { find: `\\b(?:0x)?${HEX}{8,}\\b`, put: "<id>" },
  { find: `\\b(?:${LONG_ID})\\b`, put: "<id>" },
  { find: "[0-9]+(?:\\.[0-9]+)*", put: "<n>" },
];

const COMPILED = RULES.map(({ find, put }) => ({ find: new RegExp(find, "gu"), put }));

/**
 * The shape of a message: numbers, addresses, times, ids and country codes replaced by what they are.
 *
 * @example
 * messageShape("answered 203.0.113.7 in 80 ms"); // "answered <ip> in <n> ms"
 */
export function messageShape(message: string): string {
  return COMPILED.reduce((text, { find, put }) => text.replace(find, put), message);
}

/** SQL for the shape of a message, and the patterns to bind to it. */
export function messageShapeSql(message: string): {
  sql: string;
  parameters: Record<string, string>;
} {
  const parameters: Record<string, string> = {};
  const sql = RULES.reduce((text, { find, put }, index) => {
    parameters[`find_${index}`] = find;
    parameters[`put_${index}`] = put.replace("$1", "\\1");
    return `replaceRegexpAll(${text}, {find_${index}:String}, {put_${index}:String})`;
  }, message);
  return { sql, parameters };
}
