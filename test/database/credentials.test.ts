import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { redact } from "../../src/base/redact.js";
import { withPassword } from "../../src/database/credentials.js";
import { parseAddress } from "../../src/database/address.js";
import { credentials } from "../../src/index.js";
import { gpgTeam, hasGpg } from "../support/gpg-team.js";

let team: Awaited<ReturnType<typeof gpgTeam>>;
const PASSWORD = "s3cret-of-the-table-é";
const CLEAR = {
  databases: { measurements: { user: "reader", password: PASSWORD, port: 8443 }, logs: null },
};
const at = (name: string) => team.at(name);
const encrypted = (...given: [string, string, ...string[]]) => team.encrypted(...given);

beforeAll(async () => {
  if (!hasGpg) return;
  team = await gpgTeam();
  encrypted("team.gpg", JSON.stringify(CLEAR), "ann", "bob");
});
afterAll(() => team?.[Symbol.asyncDispose]());
afterEach(() => vi.unstubAllEnvs());

const as = (home: string, file = "team.gpg") => {
  vi.stubEnv("GNUPGHOME", at(home));
  vi.stubEnv("PROBELAB_CREDENTIALS", at(file));
};

describe.skipIf(!hasGpg)("credentials.get(path)", () => {
  it("reads one value with the real gpg, and hides it from then on", async () => {
    as("ann");
    expect(await credentials.get("databases.measurements.password")).toBe(PASSWORD);
    expect(await credentials.get("databases.measurements.port")).toBe("8443");
    expect(redact(`it said ${PASSWORD}!`)).toBe("it said ***!");
  });

  it("gives a server its password, where the environment gives none", async () => {
    as("ann");
    const source = (url: string) => parseAddress(url, { root: "/", name: "a test" });
    const paths = { measurements: "databases.measurements.password" };
    const open = source("https://reader@h:8443/db");
    expect(await withPassword("measurements", open, paths)).toMatchObject({ password: PASSWORD });
    expect(await withPassword("logs", open, paths)).toBe(open);
    const own = source("https://reader:own@h:8443/db");
    expect(await withPassword("measurements", own, paths)).toBe(own);
  });

  it.each([
    [
      "databases.measurements.pasword",
      /holds no "pasword" in databases\.measurements\. Did you mean databases\.measurements\.password\?/,
    ],
    ["databases", /holds an object there\. Name one of its values, databases\.…/],
    ["databases.logs", /holds null there/],
    ["databases.measurements.password.x", /holds no "x" in databases\.measurements\.password/],
    ["databases.constructor", /holds no "constructor" in databases/],
    ["a..b", /pass keys joined by dots/],
  ])("says what is missing at %s, and shows no value", async (path, message) => {
    as("ann");
    const error = await credentials.get(path).catch((one: unknown) => one as Error);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toMatch(/s3cret|8443|reader/);
  });

  it("tells whether the file, the key, the passphrase or gpg is missing", async () => {
    as("ann", "nowhere.gpg");
    await expect(credentials.get("a")).rejects.toThrow(/there is no file .*nowhere\.gpg/);
    as("nobody");
    await expect(credentials.get("a")).rejects.toThrow(
      /is encrypted to 2 keys \([0-9A-F]{16}, [0-9A-F]{16}\), and the secret half of none is here/,
    );
    encrypted("bob.gpg", "{}", "bob");
    execFileSync("gpgconf", ["--homedir", at("ann"), "--kill", "gpg-agent"]);
    writeFileSync(at("ann/gpg-agent.conf"), "pinentry-program /nonexistent\n");
    as("ann", "bob.gpg");
    await expect(credentials.get("a")).rejects.toThrow(
      /the key of .*bob\.gpg stays locked, because the agent .*Unlock it once/,
    );
    vi.stubEnv("PATH", "/nonexistent");
    await expect(credentials.get("a")).rejects.toThrow(/gpg isn't installed\. Install GnuPG/);
  });

  it("takes nothing of a file that was changed, cut, isn't encrypted or holds no JSON", async () => {
    const whole = readFileSync(at("team.gpg"));
    writeFileSync(at("cut.gpg"), whole.subarray(0, whole.length - 40));
    const other = Buffer.from(whole);
    other[other.length - 30]! ^= 1;
    writeFileSync(at("changed.gpg"), other);
    for (const name of ["cut.gpg", "changed.gpg"]) {
      as("ann", name);
      await expect(credentials.get("databases.measurements.password")).rejects.toThrow(
        /was changed or cut after it was encrypted/,
      );
    }
    writeFileSync(at("open.json"), JSON.stringify(CLEAR));
    as("ann", "open.json");
    await expect(credentials.get("a")).rejects.toThrow(/isn't encrypted with gpg/);
    encrypted("text.gpg", "the password is s3cret", "ann");
    as("ann", "text.gpg");
    const error = await credentials.get("a").catch((one: unknown) => one as Error);
    expect((error as Error).message).toMatch(/what it holds is no JSON/);
    expect((error as Error).message).not.toMatch(/s3cret/);
  });

  it("takes a hostile file name for a file name", async () => {
    const name = "--output=stolen; $(touch x).gpg";
    encrypted("plain.gpg", JSON.stringify({ a: "b" }), "ann");
    writeFileSync(at(name), readFileSync(at("plain.gpg")));
    chmodSync(at(name), 0o600);
    as("ann");
    expect(await credentials.get("a", { file: at(name) })).toBe("b");
  });
});
