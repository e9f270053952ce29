import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { ProbelabError } from "../base/error.js";
import { cleanText, counted } from "../base/text.js";

/** What gpg answered: its standard output, and its status lines as words. */
interface Answer {
  readonly output: Buffer;
  readonly status: readonly (readonly string[])[];
  readonly said: string;
}

/** A passphrase that nobody types ends the question, not the notebook. */
const PATIENCE_MS = 120_000;

/** Low bits of a libgpg-error code (gpg-error.h). */
const CODE_BITS = 0xffff;
const REASONS: Readonly<Record<number, string>> = {
  11: "the passphrase is wrong",
  62: "nobody typed the passphrase in time",
  77: "no gpg-agent answers: start it with gpgconf --launch gpg-agent",
  86: "the agent has no pinentry to ask for the passphrase with",
  99: "whoever was asked for the passphrase cancelled",
};

/**
 * The text of an encrypted file, in memory only. What gpg gives of a file that was changed or cut is
 * thrown away.
 *
 * @throws ProbelabError that tells whether the file, the key, the agent or gpg is missing.
 */
export async function decrypt(file: string, action: string): Promise<Buffer> {
  checkFile(file, action);
  const { output, status, said } = await gpg(["--decrypt", "--", file], action);
  const has = (name: string) => status.some(([word]) => word === name);
  if (has("DECRYPTION_OKAY") && has("GOODMDC")) return output;
  output.fill(0);
  const recipients = status.flatMap(([word, id]) => (word === "ENC_TO" ? [id!] : []));
  const without = status.filter(([word]) => word === "NO_SECKEY").length;
  const failed = status.find(([word]) => word === "ERROR");
  if (has("NODATA") && recipients.length === 0) {
    throw new ProbelabError(
      `Can't ${action}: ${file} isn't encrypted with gpg. Encrypt it with gpg --encrypt, and never commit its clear text.`,
    );
  }
  if (failed !== undefined) {
    const code = Number(failed[2]) & CODE_BITS;
    const reason = REASONS[code] ?? "the agent can't ask for the passphrase here";
    throw new ProbelabError(
      `Can't ${action}: the key of ${file} stays locked, because ${reason}. Unlock it once in a terminal: gpg --decrypt ${file} > /dev/null`,
    );
  }
  if (recipients.length > 0 && without >= recipients.length) {
    throw new ProbelabError(
      `Can't ${action}: ${file} is encrypted to ${counted(recipients.length, "key")} (${recipients.slice(0, 5).join(", ")}), and the secret half of none is here. Ask one of its recipients to add your key to the list and to encrypt it again.`,
    );
  }
  if (recipients.length > 0) {
    throw new ProbelabError(
      `Can't ${action}: ${file} was changed or cut after it was encrypted. Take it from the repository again.`,
    );
  }
  throw new ProbelabError(
    `Can't ${action}: gpg can't decrypt ${file}: ${said}. Try gpg --decrypt ${file} > /dev/null in a terminal.`,
  );
}

/** The key ids that a file is encrypted to; "0000000000000000" for a hidden one. Needs no secret key. */
export async function recipientKeys(file: string, action: string): Promise<string[]> {
  checkFile(file, action);
  const { status } = await gpg(["--list-only", "--decrypt", "--", file], action);
  const ids = status.flatMap(([word, id]) => (word === "ENC_TO" ? [id!] : []));
  if (ids.length > 0) return ids;
  throw new ProbelabError(`Can't ${action}: ${file} isn't encrypted to anybody's key.`);
}

/** A key of the keyring: the ids of its halves, its fingerprint, its owners' addresses. */
export interface Key {
  readonly ids: readonly string[];
  readonly fingerprints: readonly string[];
  /** `Ann <ann@example.org>` */
  readonly owners: readonly string[];
}

/** The public keys that this user's keyring holds. */
export async function keyring(action: string): Promise<Key[]> {
  const { output } = await gpg(["--with-colons", "--list-keys"], action);
  const keys: { ids: string[]; fingerprints: string[]; owners: string[] }[] = [];
  for (const line of output.toString("utf8").split("\n")) {
    const fields = line.split(":");
    if (fields[0] === "pub") keys.push({ ids: [], fingerprints: [], owners: [] });
    const key = keys.at(-1);
    if (fields[0] === "pub" || fields[0] === "sub") key?.ids.push(fields[4]!);
    if (fields[0] === "fpr") key?.fingerprints.push(fields[9]!);
    // Colons and control characters are written \x3a.
    if (fields[0] === "uid") {
      key?.owners.push(
        fields[9]!.replace(/\\x([0-9a-f]{2})/gi, (_, hex: string) =>
          String.fromCharCode(Number.parseInt(hex, 16)),
        ),
      );
    }
  }
  return keys;
}

function checkFile(file: string, action: string): void {
  if (existsSync(file) && statSync(file).isFile()) return;
  throw new ProbelabError(
    `Can't ${action}: there is no file ${file}. Name it in PROBELAB_CREDENTIALS, or as "file" of "credentials" in probelab.config.json.`,
  );
}

function gpg(options: readonly string[], action: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const child = spawn("gpg", ["--batch", "--status-fd", "3", ...options], {
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      env: { ...process.env, LC_ALL: "C" },
      timeout: PATIENCE_MS,
    });
    const parts: Record<1 | 2 | 3, Buffer[]> = { 1: [], 2: [], 3: [] };
    for (const at of [1, 2, 3] as const) {
      child.stdio[at]?.on("data", (part: Buffer) => parts[at].push(part));
    }
    child.on("error", (cause: NodeJS.ErrnoException) => {
      reject(
        new ProbelabError(
          cause.code === "ENOENT"
            ? `Can't ${action}: gpg isn't installed. Install GnuPG (Debian: apt install gnupg).`
            : `Can't ${action}: gpg can't be started: ${cause.message}.`,
          { cause },
        ),
      );
    });
    child.on("close", (code, signal) => {
      if (signal !== null) {
        reject(
          new ProbelabError(
            `Can't ${action}: gpg didn't answer within ${PATIENCE_MS / 1000} s; its agent may be waiting for a passphrase. Unlock the key once in a terminal.`,
          ),
        );
        return;
      }
      const output = Buffer.concat(parts[1]);
      for (const part of parts[1]) part.fill(0);
      const lines = Buffer.concat(parts[2]).toString("utf8").trim().split("\n");
      const status = Buffer.concat(parts[3])
        .toString("utf8")
        .split("\n")
        .filter((line) => line.startsWith("[GNUPG:] "))
        .map((line) => line.slice("[GNUPG:] ".length).split(" "));
      const last = cleanText((lines.at(-1) ?? "").replace(/^gpg: /, ""), 200);
      resolve({ output, status, said: last === "" ? `it ended with code ${code}` : last });
    });
  });
}
