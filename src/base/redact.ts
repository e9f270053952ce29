import { mapTexts } from "./text.js";

const key = Symbol.for("probelab.knownSecrets");

/** Replaces a secret. */
const HIDDEN = "***";

/** Names of parameters, of a query or of an address, whose values are secrets. */
const SECRET =
  "passw(?:or)?d|passwd|passphrase|pwd?|pass|secret|token|credentials?|(?:api|access|private)[_-]?key|key|auth(?:orization)?|session(?:[_-]?id)?|cookie|sig(?:nature)?";

/** Names that can hardly mean anything else, also as a part of a name: userPassword, x_api_key. */
const PLAINLY =
  "[\\w-]{0,40}(?:passw|passphrase|secret|token|credential|(?:api|access|private|clickhouse)[_-]?key)[\\w-]{0,40}";

const SECRET_NAME = new RegExp(`^(?:${SECRET})$|^${PLAINLY}$|authorization`, "i");

// Lengths have limits, so that no text takes long: secrets are short.
// user:password@ of an address. The password may hold a slash, but what looks like a port is one.
const USER_INFO =
  /(\b[a-z][a-z0-9+.-]{0,40}:?\/\/)(?:(?:[^\s/?#"']|'(?![,)\s])){0,500}@|[^\s/?#"'@:]{0,100}:(?!\d{1,5}[/?#"'\s])[^\s"'<>@]{0,500}@)/gi;
const IN_ADDRESS = new RegExp(
  `([?&;](?:[\\w-]{0,40}(?:passw|secret|token|credential|key)[\\w-]{0,40}|user(?:name)?|${SECRET})=)[^&\\s'"#;]*`,
  "gi",
);
// password=… of a command line or an environment; not the {name:Type} of a query.
const ASSIGNED = new RegExp(
  `((?<![\\w?&;-])(?:-{0,2})(?:${PLAINLY}|pwd|passwd)=)(?![{(…])(?:"[^"]*"|'[^']*'|[^\\s,;&"'})]+)`,
  "gi",
);
// The same within an address that is a parameter of another: next=…%3Fpassword%3D….
const ENCODED = new RegExp(`((?:${PLAINLY}|pwd|passwd)%3D)(?:(?!%26|%23)[^&\\s'"#;<>])+`, "gi");
// "password": "…" of JSON, of JSON inside a text, of a JavaScript object, of a header.
const MEMBER = new RegExp(
  `(\\b(?:${PLAINLY}|pwd|passwd)\\\\{0,7}["']?\\s{0,4}:\\s{0,4})(\\\\{0,7}["'])(?:(?!\\2)(?:[^\\\\\\n]|\\\\[^\\n])){0,500}\\2`,
  "gi",
);
const HEADER =
  /((?:authorization|x-clickhouse-key)["'\\]{0,8}\s{0,4}[:=]\s{0,4}["'\\]{0,8}(?:(?:basic|bearer|digest)\s+)?)[^\s"'<>,;&\\]+/gi;

// JSON.parse quotes a piece of what it read, which may begin inside a secret's name.
const QUOTED_JSON = /(Unexpected [^\n]{0,40}?), (?:\.{3})?"[^]*"(?:\.{3})? is not valid JSON/g;

// On globalThis, because a notebook may import another copy of probelab than the one its kernel runs on.
const shared = globalThis as { [key]?: Set<string> };
const known = (shared[key] ??= new Set<string>());

/**
 * Remembers a password or token, so that `redact` takes it out of every text: as it is, as URLs, JSON,
 * HTML, CSV, SQL and terminals write it, in base64 and hex, and in an Authorization header. Shorter ones
 * than four characters are taken out only where their place shows what they are.
 *
 * @param user whose password it is, for the header `Authorization: Basic`.
 */
export function keepSecret(secret: string, user = ""): void {
  if (secret === "") return;
  const texts = secret.length < 4 ? [`${user}:${secret}`] : [`${user}:${secret}`, secret];
  for (const bytes of texts.map((text) => Buffer.from(text))) {
    const base64 = bytes.toString("base64").replace(/=+$/, "");
    known.add(bytes.toString("base64"));
    if (base64.length < 8) continue;
    const hex = bytes.toString("hex");
    known.add(base64).add(bytes.toString("base64url")).add(hex).add(hex.toUpperCase());
  }
  if (secret.length >= 4) known.add(secret);
}

/** Remembers the passwords of an environment: `PROBELAB_…_PASSWORD`. */
export function keepSecretsOf(environment: NodeJS.ProcessEnv): void {
  for (const [name, value = ""] of Object.entries(environment)) {
    const user = /^(PROBELAB_.+)_PASSWORD$/.exec(name)?.[1];
    if (user !== undefined) keepSecret(value, environment[`${user}_USER`]);
  }
}

/**
 * The text without passwords: those given to `keepSecret`, and what stands where passwords
 * usually do (user and password of an address, `password=…`, `"password": "…"`, Authorization).
 * Every text that leaves passes here: errors, origins, exports, what commands print.
 *
 * @example
 * redact("tcp://h:9000/db?password=s3cret"); // "tcp://h:9000/db?password=…"
 */
export function redact(text: string): string {
  let plain = hideSecrets(text.replace(QUOTED_JSON, "$1: it is not valid JSON"));
  // Word by word, which keeps the search of long texts short: no address holds a space.
  if (/[:=@]|%3D/i.test(plain)) {
    plain = plain.replace(/\S+/g, (word) =>
      /:\/\/|=|%3D/i.test(word)
        ? word
            .replace(USER_INFO, "$1")
            .replace(IN_ADDRESS, "$1…")
            .replace(ASSIGNED, `$1${HIDDEN}`)
            .replace(ENCODED, `$1${HIDDEN}`)
        : word,
    );
  }
  return /passw|secret|token|credential|key|pwd|authorization/i.test(plain)
    ? plain.replace(MEMBER, `$1$2${HIDDEN}$2`).replace(HEADER, `$1${HIDDEN}`)
    : plain;
}

/** Members of a Vega-Lite spec that hold expressions: a text in them is code. */
const EXPRESSIONS = /^(?:expr|signal|filter|calculate|test|update|\w*Expr)$/;

/** The value with every text in it redacted, at any depth, but for the expressions of a spec. */
export function redactTexts<T>(value: T): T {
  const before = new Map<string, string>();
  const redacted = (text: string): string => {
    const plain = before.get(text) ?? redact(text);
    before.set(text, plain);
    return plain;
  };
  return mapTexts(value, redacted, EXPRESSIONS);
}

/** The text without the passwords given to `keepSecret`: what cells print stays as it is otherwise. */
export function hideSecrets(text: string): string {
  let plain = text;
  for (const secret of [...known].sort((a, b) => b.length - a.length)) {
    plain = plain.replace(patternOf(secret), HIDDEN);
  }
  return plain;
}

/**
 * The position at the end of a text from which it may be the start of a known secret, which the next piece of
 * output would complete; the length of the text where it is none.
 */
export function secretStart(text: string): number {
  let longest = 0;
  for (const secret of known) {
    for (let length = Math.min(secret.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(secret.slice(0, length))) longest = length;
    }
  }
  return text.length - longest;
}

/** Calls `listener` with each text that `hideSecrets` takes out, those of today and those to come. */
export function onSecret(listener: (secret: string) => void): void {
  known.forEach(listener);
  const add = known.add.bind(known);
  // A method of this one Set, because another copy of probelab may add to it.
  known.add = (secret) => {
    if (!known.has(secret)) listener(secret);
    return add(secret);
  };
}

/** Takes over a secret that `onSecret` reported in another process. */
export function addSecret(secret: string): void {
  known.add(secret);
}

/** True for a name of a parameter or member whose value is a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

const patterns = new Map<string, RegExp>();

/** What terminals and line breaks put between the characters of a text. */
const BETWEEN = "(?:\\u001b\\[[\\d;]*m|\\r?\\n[ \\t]{0,40})?";

/** Matches a secret in whatever form its characters are written, each by itself. */
function patternOf(secret: string): RegExp {
  const before = patterns.get(secret);
  if (before !== undefined) return before;
  const written = Array.from(secret, formsOf).join(BETWEEN);
  // A short secret may be a part of a word that is none.
  const whole = secret.length < 8 ? `(?<![\\p{L}\\p{N}_])${written}(?![\\p{L}\\p{N}_])` : written;
  const pattern = new RegExp(whole, "gu");
  patterns.set(secret, pattern);
  return pattern;
}

const NAMED: Readonly<Record<string, string>> = {
  ...{ "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos", "\u00a0": "nbsp" },
};
const CONTROLS: Readonly<Record<string, string>> = {
  "\n": "n",
  "\r": "r",
  "\t": "t",
  "\b": "b",
  "\f": "f",
};

/** A character as it is, and as URLs, HTML, JSON, CSV and SQL escape it, once or several times. */
function formsOf(character: string): string {
  const code = character.codePointAt(0)!;
  const anyCase = (hex: string) =>
    hex.replace(/[a-f]/gi, (digit) => `[${digit.toLowerCase()}${digit.toUpperCase()}]`);
  const units = Array.from({ length: character.length }, (_, at) =>
    anyCase(character.charCodeAt(at).toString(16).padStart(4, "0")),
  );
  const bytes = [...Buffer.from(character)].map((byte) =>
    anyCase(byte.toString(16).padStart(2, "0")),
  );
  const literal = character.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const forms = [
    // Behind backslashes, or doubled, as quotes are in texts within texts.
    /['"`]/.test(character) ? `\\\\*(?:${literal}){1,2}` : literal,
    character === "\\" ? "\\\\+" : "",
    CONTROLS[character] ? `\\\\+${CONTROLS[character]}` : "",
    character === "/" ? "\\\\+\\/" : "",
    units.map((unit) => `\\\\+u${unit}`).join(""),
    bytes.map((byte) => `\\\\+x${byte}`).join(""),
    bytes.map((byte) => `%(?:25)*${byte}`).join(""),
    `&(?:amp;)*#0{0,4}${code};`,
    `&(?:amp;)*#[xX]0{0,4}${anyCase(code.toString(16))};`,
    NAMED[character] ? `&(?:amp;)*${NAMED[character]};` : "",
    character === " " ? "\\+" : "",
  ];
  return `(?:${forms.filter((form) => form !== "").join("|")})`;
}
