import { resolve } from "node:path";
import { checkOptions } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { keepSecret } from "../base/redact.js";
import { shownValue } from "../base/text.js";
import { configPath, readConfig } from "../database/config.js";
import { projectRoot, type DatabaseName } from "../database/settings.js";
import type { Source } from "../database/source.js";
import { decrypt } from "./gpg.js";

/** The encrypted file to read. */
export interface CredentialsOptions {
  /**
   * The encrypted JSON file. Default: `PROBELAB_CREDENTIALS`, then `"file"` of `"credentials"` in
   * probelab.config.json; a relative path begins at the project's folder.
   */
  readonly file?: string;
}

const PATH = {
  fits: (value: unknown) => typeof value === "string" && value !== "",
  pass: "a path",
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

/** Credentials of the team: see `credentials.get`. */
export const credentials = { get } as const;

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
