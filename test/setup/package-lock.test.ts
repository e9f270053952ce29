import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      { version?: string; resolved?: string; optionalDependencies?: Record<string, string> }
    >
  >;
}

const lock = JSON.parse(
  readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8"),
) as Lock;

// Without an entry npm ci refuses to install anything. npm drops those of platforms that its
// registry does not carry; they are kept by hand.
it("package-lock.json names the database engine of every platform", () => {
  const platforms = lock.packages["node_modules/chdb"]?.optionalDependencies ?? {};
  expect(Object.keys(platforms).length).toBeGreaterThanOrEqual(4);
  for (const [name, version] of Object.entries(platforms)) {
    expect(lock.packages[`node_modules/${name}`]?.version, name).toBe(version);
  }
});

it("package-lock.json names no registry", () => {
  const resolved = Object.values(lock.packages).map((one) => one.resolved);
  expect(resolved.filter((url) => url !== undefined && !url.startsWith("."))).toEqual([]);
});
