import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("importing probelab loads the database's client and the calendar, and nothing that can wait", () => {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const walk = (url: URL): void => {
    if (seen.has(url.href)) return;
    seen.add(url.href);
    const text = readFileSync(fileURLToPath(url), "utf8");
    for (const [, name = ""] of text.matchAll(
      /^(?:import|export)(?! type\b)[^;]*? from "([^"]+)"/gm,
    )) {
      if (name.startsWith(".")) walk(new URL(name.replace(/\.js$/, ".ts"), url));
      else if (!name.startsWith("node:")) packages.add(name);
    }
  };
  walk(new URL("../../src/index.ts", import.meta.url));
  expect(seen.size).toBeGreaterThan(150);
  expect([...packages].sort()).toEqual(["@clickhouse/client", "temporal-polyfill"]);
});
