import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { checkOptions, type Rules } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { keepSecret } from "../base/redact.js";
import { counted, shownValue } from "../base/text.js";
import { readConfig } from "../database/config.js";
import { configPath, projectRoot, type DatabaseName } from "../database/settings.js";
import type { Source } from "../database/source.js";
import { decrypt, keyring, recipientKeys, type Key } from "./gpg.js";

/** Where credentials are. */
export interface CredentialsOptions {
  /**
   * The encrypted JSON file. Default: `PROBELAB_CREDENTIALS`, then `"file"` of `"credentials"` in
   * probelab.config.json; a relative path begins at the project's folder.
   */
  readonly file?: string;
}

/** What `credentials.check` takes. */
export interface CheckOptions extends CredentialsOptions {
  /** The makefile that lists the recipients. Default: `"makefile"` of `"credentials"` in probelab.config.json, then `Makefile` beside the file. */
  readonly makefile?: string;
  /** The variable that lists them. Default: the one whose name holds "recipient"; and every `-r` of its recipes. */
  readonly variable?: string;
}

/** Whether a file is encrypted to those that the makefile lists. */
export interface CredentialsCheck {
  /** True where it is, and all of it could be told. */
  readonly agree: boolean;
  /** Listed, and unable to read the file. */
  readonly missing: readonly string[];
  /** Able to read the file, and not listed. */
  readonly unlisted: readonly string[];
  /** Listed ones without a key in this keyring, and hidden recipients: nothing can be told of them. */
  readonly unknown: readonly string[];
  readonly sentence: string;
}

const FILE = { fits: (value: unknown) => typeof value === "string" && value !== "" };
const RULES: Rules<CheckOptions> = {
  file: { ...FILE, pass: "the path of a file" },
  makefile: { ...FILE, pass: "the path of a makefile" },
  variable: { ...FILE, pass: "the name of a variable of the makefile" },
};
const HIDDEN_RECIPIENT = /^0+$/;

/**
 * One value of the team's GPG-encrypted JSON file, by its keys joined by dots. The file is decrypted
 * by the real gpg at each call; its clear text stays in memory. The value is taken out of every
 * output, error and log from then on (true, false and numbers of up to five digits are not).
 *
 * @returns the text; a number or true and false as text.
 * @throws ProbelabError that says what is missing (the file, the key, the agent, gpg, the value); it
 *   never shows a value.
 * @example
 * const password = await credentials.get("databases.measurements.password");
 */
async function get(path: string, options: CredentialsOptions = {}): Promise<string> {
  const action = `read the credential ${shownValue(path)}`;
  const { file: rule } = RULES;
  checkOptions(options, { file: rule }, action);
  if (typeof path !== "string" || path.split(".").some((key) => key === "")) {
    throw new ProbelabError(
      `Can't ${action}: pass keys joined by dots, such as "databases.measurements.password".`,
    );
  }
  const file = fileOf(options, action);
  const clear = await decrypt(file, action);
  const value = valueAt(parsed(clear, file, action), path, { file, action });
  // A port or a switch is no secret, and would take its digits out of every text.
  if (!/^(?:true|false|\d{1,5})$/.test(value)) keepSecret(value);
  return value;
}

/**
 * Compares whom the file is encrypted to with the recipients that the makefile lists. Needs their
 * public keys in this user's keyring, and no secret one.
 *
 * @throws ProbelabError where either file is missing or lists nobody.
 * @example
 * (await credentials.check()).sentence;
 */
async function check(options: CheckOptions = {}): Promise<CredentialsCheck> {
  const action = "check the recipients of the credentials";
  checkOptions(options, RULES, action);
  const file = fileOf(options, action);
  const makefile = makefileOf(options, file, action);
  const listed = listedIn(makefile, options.variable, action);
  const ids = await recipientKeys(file, action);
  const keys = await keyring(action);
  const reads = (key: Key) => key.ids.some((id) => ids.includes(id));
  const owners = listed.map((name) => ({ name, keys: keys.filter((key) => isOf(key, name)) }));
  const missing = owners.filter(({ keys: own }) => own.length > 0 && !own.some(reads));
  const known = new Set(owners.flatMap(({ keys: own }) => own.flatMap((key) => key.ids)));
  const hidden = ids.filter((id) => HIDDEN_RECIPIENT.test(id));
  const unlisted = ids.filter((id) => !known.has(id) && !hidden.includes(id));
  const unknown = owners.filter(({ keys: own }) => own.length === 0).map(({ name }) => name);
  const nameOf = (id: string) => {
    const owner = keys.find((key) => key.ids.includes(id))?.owners[0];
    return owner === undefined ? id : `${owner} (${id})`;
  };
  const answer = {
    missing: missing.map(({ name }) => name),
    unlisted: unlisted.map(nameOf),
    unknown: [...unknown, ...hidden.map(() => "a hidden recipient")],
  };
  const agree = Object.values(answer).every((list) => list.length === 0);
  return { agree, ...answer, sentence: sentence(answer, listed.length, { file, makefile }) };
}

/** Credentials of the team's encrypted file: `get` one, `check` who can read them. */
export const credentials = { get, check } as const;

function sentence(
  { missing, unlisted, unknown }: Pick<CredentialsCheck, "missing" | "unlisted" | "unknown">,
  listed: number,
  { file, makefile }: { readonly file: string; readonly makefile: string },
): string {
  const parts = [
    ...(missing.length > 0 ? [`${missing.join(", ")} can't read it though listed`] : []),
    ...(unlisted.length > 0 ? [`${unlisted.join(", ")} can read it and isn't listed`] : []),
    ...(unknown.length > 0
      ? [
          `of ${unknown.join(", ")} I can't tell, because this keyring holds no key of that name: import it with gpg --import`,
        ]
      : []),
  ];
  return parts.length === 0
    ? `${file} is encrypted to the ${counted(listed, "recipient")} of ${makefile} and to nobody else.`
    : `${file} and ${makefile} differ: ${parts.join("; ")}.`;
}

function fileOf({ file }: CredentialsOptions, action: string): string {
  const root = projectRoot(process.cwd());
  const { credentials: set } = readConfig(configPath(root));
  const found = file ?? (process.env["PROBELAB_CREDENTIALS"] || set?.file);
  if (found === undefined) {
    throw new ProbelabError(
      `Can't ${action}: no file is named. Set PROBELAB_CREDENTIALS, or "credentials": { "file": "credentials.json.gpg" } in probelab.config.json.`,
    );
  }
  return isAbsolute(found) ? found : join(root, found);
}

function makefileOf({ makefile }: CheckOptions, file: string, action: string): string {
  const root = projectRoot(process.cwd());
  const given = makefile ?? readConfig(configPath(root)).credentials?.makefile;
  const path =
    given === undefined
      ? join(file, "..", "Makefile")
      : isAbsolute(given)
        ? given
        : join(root, given);
  if (existsSync(path)) return path;
  throw new ProbelabError(
    `Can't ${action}: there is no makefile ${path}. Name it with makefile: "…".`,
  );
}

function parsed(clear: Buffer, file: string, action: string): unknown {
  try {
    return JSON.parse(clear.toString("utf8").replace(/^\uFEFF/, "")) as unknown;
  } catch {
    // Its message would quote what it read.
    throw new ProbelabError(
      `Can't ${action}: ${file} was decrypted, and what it holds is no JSON. Write one object of objects and texts.`,
    );
  } finally {
    clear.fill(0);
  }
}

function valueAt(
  json: unknown,
  path: string,
  { file, action }: { readonly file: string; readonly action: string },
): string {
  const keys = path.split(".");
  let at = json;
  for (const [place, key] of keys.entries()) {
    const here = keys.slice(0, place).join(".") || "its top level";
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) {
      const known = typeof at === "object" && at !== null ? Object.keys(at) : [];
      const near = nearName(key, known);
      throw new ProbelabError(
        `Can't ${action}: ${file} holds no ${JSON.stringify(key)} in ${here}.${near === undefined ? " Look at its keys with gpg --decrypt." : ` Did you mean ${[...keys.slice(0, place), near].join(".")}?`}`,
      );
    }
    at = (at as Record<string, unknown>)[key];
  }
  if (typeof at === "string" || typeof at === "number" || typeof at === "boolean") {
    return String(at);
  }
  throw new ProbelabError(
    `Can't ${action}: ${file} holds ${at === null ? "null" : Array.isArray(at) ? "a list" : "an object"} there. Name one of its values, ${path}.….`,
  );
}

/** The recipients that a makefile lists. It is read, never run: `$(shell …)` would be. */
function listedIn(makefile: string, variable: string | undefined, action: string): string[] {
  const text = readFileSync(makefile, "utf8")
    .replace(/\\\r?\n/g, " ")
    .replace(/(^|\s)#.*$/gm, "$1");
  const variables = [...text.matchAll(/^\s*(?:export\s+)?([\w.-]+)\s*[:+?]?:?=[ \t]*(.*)$/gm)].map(
    ([, name, value]) => ({ name: name!, words: value!.split(/[\s,]+/) }),
  );
  const own = variables.filter(({ name }) =>
    variable === undefined ? /recipient/i.test(name) : name === variable,
  );
  const named = own.flatMap(({ words }) => words);
  const flags = [...text.matchAll(/(?:\s-r\s*|\s--recipient[=\s]\s*)(\S+)/g)].map(
    ([, one]) => one!,
  );
  const listed = [...new Set([...named, ...(variable === undefined ? flags : [])])]
    .map((word) => word.replace(/^["']|["']$/g, ""))
    .filter((word) => /@|^(?:0x)?[0-9a-f]{8,40}$/i.test(word) && !/[$(){}]/.test(word));
  if (listed.length > 0) return listed;
  const names = variables.map(({ name }) => name);
  throw new ProbelabError(
    `Can't ${action}: ${makefile} lists none${variable === undefined ? "" : ` in ${variable}`}. Name the variable that does with variable: "…"${names.length === 0 ? "" : ` (${names.slice(0, 20).join(", ")})`}.`,
  );
}

/** By address, fingerprint or key id. */
function isOf({ ids, fingerprints, owners }: Key, name: string): boolean {
  const id = name.replace(/^0x/i, "").toUpperCase();
  if (/^[0-9A-F]{8,40}$/.test(id)) {
    return [...fingerprints, ...ids].some((one) => one.toUpperCase().endsWith(id));
  }
  const address = name.replace(/^<|>$/g, "").toLowerCase();
  return owners.some(
    (owner) => owner.toLowerCase() === address || owner.toLowerCase().endsWith(`<${address}>`),
  );
}

/**
 * The source with the password that the options or probelab.config.json name a credential for, where
 * the environment and the URL give none.
 */
export async function withPassword(
  name: DatabaseName,
  source: Source,
  paths: { readonly measurements?: string; readonly logs?: string } = {},
): Promise<Source> {
  if (source.kind === "embedded" || source.password !== "") return source;
  const path =
    paths[name] ?? readConfig(configPath(projectRoot(process.cwd()))).credentials?.[name];
  if (path === undefined) return source;
  const password = await get(path);
  keepSecret(password, source.username);
  return { ...source, password };
}
