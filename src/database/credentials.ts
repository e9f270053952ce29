import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { checkOptions } from "../base/check-options.js";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { keepSecret } from "../base/redact.js";
import { counted, shownValue } from "../base/text.js";
import { configPath, readConfig } from "./config.js";
import { projectRoot, type DatabaseName } from "./settings.js";
import type { DatabaseAddress } from "./address.js";

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
  source: DatabaseAddress,
  paths: { readonly measurements?: string; readonly logs?: string } = {},
): Promise<DatabaseAddress> {
  if (source.kind === "embedded" || source.password !== "") return source;
  const path = paths[name] ?? project().config[name];
  if (path === undefined) return source;
  const password = await get(path);
  keepSecret(password, source.username);
  return { ...source, password };
}

/** gpg's answer. Source: https://github.com/gpg/gnupg/blob/master/doc/DETAILS */
interface Answer {
  readonly code: number | null;
  readonly out: string;
  /** The arguments of each line of status with this keyword. */
  readonly status: (keyword: string) => readonly string[];
}

const PATIENCE_MS = 120_000;

/** Decrypts by gpg what it reads, never a file whose name may look like an option. */
async function gpg(action: string, input: Buffer): Promise<Answer> {
  // A passphrase that nobody types ends the call, not the notebook.
  const child = spawn("gpg", ["--batch", "--no-tty", "--status-fd", "3", "--decrypt"], {
    stdio: ["pipe", "pipe", "ignore", "pipe"],
    timeout: PATIENCE_MS,
  });
  const out: Buffer[] = [];
  const said: Buffer[] = [];
  child.stdout?.on("data", (part: Buffer) => out.push(part));
  child.stdio[3]?.on("data", (part: Buffer) => said.push(part));
  // It may end before it has read all.
  child.stdin?.on("error", () => undefined).end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve).once("error", (cause: NodeJS.ErrnoException) => {
      const why = cause.code === "ENOENT" ? "gpg isn't installed. Install GnuPG" : cause.message;
      reject(
        new ProbelabError(`Can't ${action}: ${why}, so that "gpg --version" works.`, { cause }),
      );
    });
  });
  const lines = Buffer.concat(said).toString("utf8").split("\n");
  const status = (keyword: string) =>
    lines.flatMap((line) => {
      const [mark, name, ...rest] = line.split(" ");
      return mark === "[GNUPG:]" && name === keyword ? [rest.join(" ")] : [];
    });
  return { code, out: Buffer.concat(out).toString("utf8"), status };
}

async function readEncrypted(action: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no file" : `${code} at the file`;
    throw new ProbelabError(
      `Can't ${action}: ${why} ${file}. Name another with PROBELAB_CREDENTIALS, or with "credentials": { "file": "…" } in probelab.config.json.`,
      { cause },
    );
  }
}

/** The clear text of an encrypted file, which stays in memory. @throws ProbelabError saying what is missing. */
async function decrypt(action: string, file: string): Promise<string> {
  const { code, out, status } = await gpg(action, await readEncrypted(action, file));
  const isWhole = status("DECRYPTION_OKAY").length > 0 && status("BADMDC").length === 0;
  if (code === 0 && isWhole) return out;
  throw new ProbelabError(`Can't ${action}: ${whyNot(file, status)}`);
}

// With --quiet gpg doesn't name the keys that are missing.
function whyNot(file: string, status: Answer["status"]): string {
  const keys = status("ENC_TO").map((line) => line.split(" ")[0]);
  if (keys.length === 0) {
    return `${file} isn't encrypted with gpg. Encrypt it with gpg --encrypt, and never commit its clear text.`;
  }
  if (status("ERROR").length > 0) {
    return `the key of ${file} stays locked, because the agent got no passphrase. Unlock it once in a terminal: gpg --decrypt ${file} > /dev/null`;
  }
  if (status("NO_SECKEY").length >= keys.length) {
    return `${file} is encrypted to ${counted(keys.length, "key")} (${keys.slice(0, 5).join(", ")}), and the secret half of none is here. Ask one of its recipients to encrypt it to you too.`;
  }
  return `${file} was changed or cut after it was encrypted. Take it from the repository again.`;
}
