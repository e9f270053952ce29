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
 * Remembers a password or token, so that `redact` takes it out of every text, as it is and as URLs,
 * JSON, HTML and an Authorization header write it. Shorter ones than four characters are taken out
 * only where their place shows what they are.
 *
 * @param user whose password it is, for the header `Authorization: Basic`.
 */
export function keepSecret(secret: string, user = ""): void {
  if (secret === "") return;
  const bytes = Buffer.from(`${user}:${secret}`);
  const base64 = bytes.toString("base64");
  known.add(base64);
  known.add(encodeURIComponent(base64));
  if (base64.length >= 8) {
    known.add(base64.replace(/=+$/, ""));
    known.add(bytes.toString("base64url"));
    known.add(bytes.toString("hex"));
  }
  if (secret.length < 4) return;
  known.add(secret);
  known.add(encodeURIComponent(secret));
  known.add(new URLSearchParams({ "": secret }).toString().slice(1));
  known.add(JSON.stringify(secret).slice(1, -1));
  known.add(secret.replace(/['\\]/g, "\\$&"));
  known.add(secret.replaceAll("'", "''"));
  known.add(encodeURIComponent(encodeURIComponent(secret)));
  known.add(encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()));
  known.add(
    secret
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;"),
  );
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
    if (plain.includes(secret)) plain = hide(plain, secret);
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

/** A short secret may be a part of a word that is none. */
function hide(text: string, secret: string): string {
  if (secret.length >= 8) return text.replaceAll(secret, HIDDEN);
  const part = secret.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}_])${part}(?![\\p{L}\\p{N}_])`, "gu"), HIDDEN);
}
