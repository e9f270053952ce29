import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { ProbelabError } from "../base/error.js";
import { counted } from "../base/text.js";

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
export async function decrypt(action: string, file: string): Promise<string> {
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
