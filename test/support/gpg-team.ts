import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "./temporary-directory.js";

/** False where gpg isn't installed: tests that need it skip. */
export const hasGpg = (() => {
  try {
    execFileSync("gpg", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    console.warn("gpg is not installed: tests of credentials are skipped.");
    return false;
  }
})();

/**
 * The keyring `ann` with keys of Ann and Eve (open) and Bob (with a passphrase), the empty keyring
 * `nobody`, and files encrypted by Ann.
 */
export async function gpgTeam() {
  const folder = await temporaryDirectory();
  const at = (name: string) => join(folder.path, name);
  const gpg = (...rest: string[]) =>
    execFileSync("gpg", ["--homedir", at("ann"), "--batch", "--quiet", "--yes", ...rest], {
      stdio: ["ignore", "pipe", "ignore"],
    }).toString();
  for (const home of ["ann", "nobody"]) mkdirSync(at(home), { mode: 0o700 });
  for (const [name, passphrase] of [
    ["ann", ""],
    ["bob", "locked"],
  ] as const) {
    const loop = ["--pinentry-mode", "loopback", "--passphrase", passphrase];
    gpg(...loop, "--quick-gen-key", `${name} <${name}@example.org>`, "ed25519", "sign");
    const keys = gpg("--with-colons", "--list-keys", `${name}@example.org`);
    const key = /^fpr:+([0-9A-F]{40}):/m.exec(keys)![1]!;
    gpg(...loop, "--quick-add-key", key, "cv25519", "encr");
  }
  return {
    at,
    encrypted(name: string, content: string, ...to: string[]): string {
      writeFileSync(at("clear"), content);
      const recipients = to.flatMap((one) => ["-r", `${one}@example.org`]);
      gpg("--trust-model", "always", ...recipients, "-o", at(name), "-e", at("clear"));
      return at(name);
    },
    async [Symbol.asyncDispose]() {
      for (const home of ["ann", "nobody"]) {
        execFileSync("gpgconf", ["--homedir", at(home), "--kill", "all"]);
      }
      await folder[Symbol.asyncDispose]();
    },
  };
}
