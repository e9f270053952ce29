import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { checkOptions, type Rules } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { keepSecret } from "../base/redact.js";
import { counted, shownValue } from "../base/text.js";
import { readConfig } from "../database/config.js";
import { configPath, projectRoot, type DatabaseName } from "../database/settings.js";
import type { Source } from "../database/source.js";
import { decrypt, keysOf, recipientsOf } from "./gpg.js";

/** The encrypted file to read. */
export interface CredentialsOptions {
  /**
   * The encrypted JSON file. Default: `PROBELAB_CREDENTIALS`, then `"file"` of `"credentials"` in
   * probelab.config.json; a relative path begins at the project's folder.
   */
  readonly file?: string;
}

/** The encrypted file, and the makefile to compare it with. */
export interface CheckOptions extends CredentialsOptions {
  /** Default: `"makefile"` of `"credentials"` in probelab.config.json, then `Makefile` beside the file. */
  readonly makefile?: string;
}

/** Compares whom a file is encrypted to with the recipients that a makefile lists. */
export interface CredentialsCheck {
  /** True where they are the same, and all of them are known. */
  readonly agree: boolean;
  /** Listed, and unable to read the file. */
  readonly missing: readonly string[];
  /** Able to read the file, and not listed. */
  readonly unlisted: readonly string[];
  /** Listed without a key in this keyring, and hidden recipients. */
  readonly unknown: readonly string[];
  readonly sentence: string;
}

const PATH = {
  fits: (value: unknown) => typeof value === "string" && value !== "",
  pass: "a path",
};
const RULES: Rules<CheckOptions> = {
  file: PATH,
  makefile: PATH,
};

/**
 * Reads one value of the team's encrypted JSON file by its keys, joined by dots. gpg decrypts the file
 * at each call; its clear text is never written to disk, and the value is `***` in all outputs.
 *
 * @throws ProbelabError saying whether the file, the key, the passphrase, gpg or the value is missing;
 *   it shows no value.
 * @example
 * const token = await credentials.get("alerts.push.token");
 */
async function get(path: string, options: CredentialsOptions = {}): Promise<string> {
  const action = `read the credential ${shownValue(path)}`;
  checkOptions(options, { file: PATH }, action);
  const keys = typeof path === "string" ? path.split(".") : [""];
  if (keys.includes("")) {
    throw new ProbelabError(
      `Can't ${action}: pass keys joined by dots, such as "databases.measurements.password".`,
    );
  }
  const file = fileOf(options, action);
  const value = valueAt(await readJson(action, file), keys, `Can't ${action}: ${file}`);
  // A port or a switch is no secret: its digits would be missing in every text.
  if (typeof value === "string") keepSecret(value);
  return String(value);
}

async function readJson(action: string, file: string): Promise<unknown> {
  const text = await decrypt(action, file);
  try {
    return JSON.parse(text);
  } catch {
    // Without its cause, which quotes the text.
    throw new ProbelabError(
      `Can't ${action}: ${file} can be decrypted, but what it holds is no JSON. Encrypt an object, { … }.`,
    );
  }
}

function valueAt(
  json: unknown,
  keys: readonly string[],
  failed: string,
): string | number | boolean {
  let value: unknown = json;
  for (const [at, key] of keys.entries()) {
    const parent = keys.slice(0, at).join(".");
    const members =
      typeof value === "object" && value !== null ? Object.entries<unknown>({ ...value }) : [];
    const member = members.find(([name]) => name === key);
    if (member === undefined) {
      const near = nearName(
        key,
        members.map(([name]) => name),
      );
      const full = [...keys.slice(0, at), near].join(".");
      throw new ProbelabError(
        `${failed} holds no "${key}" in ${parent || "its object"}.${near === undefined ? " Check the path." : ` Did you mean ${full}?`}`,
      );
    }
    value = member[1];
  }
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return value;
  }
  throw new ProbelabError(
    value === null
      ? `${failed} holds null there. Write the value into it.`
      : `${failed} holds an object there. Name one of its values, ${keys.join(".")}.…`,
  );
}

/**
 * Compares whom the file is encrypted to with the recipients in the team's makefile: addresses,
 * fingerprints or key ids of variables whose name holds "recipient", and those after `-r` in recipes. The makefile is read,
 * never run; the recipients' public keys must be in the keyring.
 *
 * @throws ProbelabError where either can't be read, or the makefile lists nobody.
 * @example
 * (await credentials.check()).sentence;
 */
async function check(options: CheckOptions = {}): Promise<CredentialsCheck> {
  const action = "check who can read the credentials";
  checkOptions(options, RULES, action);
  const file = fileOf(options, action);
  const { root, config } = project();
  const named = options.makefile ?? config.makefile;
  const makefile = named === undefined ? join(dirname(file), "Makefile") : resolve(root, named);
  const listed = await listedIn(makefile, action);
  const able = new Set(await recipientsOf(action, file));
  const missing: string[] = [];
  const unknown: string[] = [];
  const matched = new Set<string>();
  for (const name of listed) {
    const { ids } = await keysOf(action, name);
    const readers = ids.filter((id) => able.has(id));
    for (const id of readers) matched.add(id);
    if (ids.length === 0) unknown.push(name);
    else if (readers.length === 0) missing.push(name);
  }
  const unlisted: string[] = [];
  for (const id of able) {
    if (matched.has(id)) continue;
    if (/^0+$/.test(id)) unknown.push("a hidden recipient");
    else unlisted.push(`${(await keysOf(action, id)).user ?? "an unknown key"} (${id})`);
  }
  const parts = [
    ...(missing.length > 0 ? [`${missing.join(", ")} can't read it though listed`] : []),
    ...(unlisted.length > 0 ? [`${unlisted.join(", ")} can read it and isn't listed`] : []),
    ...(unknown.length > 0
      ? [
          `${unknown.join(", ")} can't be checked without the public key: import it with gpg --import`,
        ]
      : []),
  ];
  const agree = parts.length === 0;
  const sentence = agree
    ? `${file} is encrypted to the ${counted(listed.length, "recipient")} of ${makefile} and to nobody else.`
    : `${file} isn't encrypted to the recipients of ${makefile}: ${parts.join("; ")}.`;
  return { agree, missing, unlisted, unknown, sentence };
}

async function listedIn(makefile: string, action: string): Promise<string[]> {
  const text = await readFile(makefile, "utf8").catch((cause: Error) => {
    throw new ProbelabError(
      `Can't ${action}: the makefile can't be read (${cause.message}). Name it with makefile: "…".`,
      { cause },
    );
  });
  const listed = new Set<string>();
  for (const continued of text.replace(/\\\r?\n/g, " ").split(/\r?\n/)) {
    const line = continued.replace(/(^|\s)#.*$/, "");
    const [, list] = /^ *[\w.-]*recipient[\w.-]*\s*(?:\?|\+|:{0,3})=(.*)$/i.exec(line) ?? [];
    const flags = [...line.matchAll(/(?:^|\s)(?:-r|--recipient)[ =]?([^\s-]\S*)/g)];
    const names = list === undefined ? flags.map(([, name = ""]) => name) : list.split(/\s+/);
    // The makefile isn't run, so a name that make would compute is none.
    for (const name of names) if (/^[^$(),'"]+$/.test(name)) listed.add(name);
  }
  if (listed.size > 0) return [...listed];
  throw new ProbelabError(
    `Can't ${action}: ${makefile} lists no recipient. Write them into a variable whose name holds RECIPIENTS.`,
  );
}

/** Credentials of the team: see `credentials.get`. */
export const credentials = { get, check } as const;

function project() {
  const root = projectRoot(process.cwd());
  return { root, config: readConfig(configPath(root)).credentials ?? {} };
}

function fileOf({ file }: CredentialsOptions, action: string): string {
  const { root, config } = project();
  const path = file ?? (process.env["PROBELAB_CREDENTIALS"] || config.file);
  if (path !== undefined) return resolve(root, path);
  throw new ProbelabError(
    `Can't ${action}: no file is named. Set PROBELAB_CREDENTIALS, or "credentials": { "file": "credentials.json.gpg" } in probelab.config.json.`,
  );
}

/** A server with its password from the credentials, where neither the environment nor its address has one. */
export async function withPassword(
  name: DatabaseName,
  source: Source,
  paths: { readonly measurements?: string; readonly logs?: string } = {},
): Promise<Source> {
  if (source.kind === "embedded" || source.password !== "") return source;
  const path = paths[name] ?? project().config[name];
  if (path === undefined) return source;
  const password = await get(path);
  keepSecret(password, source.username);
  return { ...source, password };
}
