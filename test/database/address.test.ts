import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { findSource } from "../../src/database/settings.js";
import { parseAddress } from "../../src/database/address.js";

const root = mkdtempSync(join(tmpdir(), "probelab-settings-"));
afterAll(() => rmSync(root, { recursive: true }));

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return String(error);
  }
  throw new Error("nothing was thrown");
}

describe("parseSource(text)", () => {
  const options = { root: "/project", name: "PROBELAB_MEASUREMENTS" };

  it("takes a relative directory from the project's folder", () => {
    expect(parseAddress("embedded:.probelab", options)).toEqual({
      kind: "embedded",
      directory: "/project/.probelab",
      label: "embedded:.probelab",
    });
  });

  it("takes user and password out of a URL, so that no label shows them", () => {
    const source = parseAddress("https://ann:s3cret%21@host:8443/ooni", options);
    expect(source).toEqual({
      kind: "server",
      url: "https://host:8443",
      database: "ooni",
      username: "ann",
      password: "s3cret!",
      label: "https://host:8443/ooni",
    });
  });

  it.each([
    ["https://proxy/clickhouse/ooni", "/clickhouse", "ooni", "https://proxy/clickhouse/ooni"],
    ["https://proxy/a/b/?database=ooni", "/a/b", "ooni", "https://proxy/a/b/ooni"],
    ["http://host:8123/?database=ooni", undefined, "ooni", "http://host:8123/ooni"],
    ["http://host:8123/ooni", undefined, "ooni", "http://host:8123/ooni"],
  ])("takes prefix and database out of %s", (text, prefix, database, label) => {
    const source = parseAddress(text, options);
    expect(source).toMatchObject({ database, label });
    expect("prefix" in source ? source.prefix : undefined).toBe(prefix);
  });

  it("refuses what else a URL asks for, without its value", () => {
    const text = "https://host/ooni?user=ann&password=s3cret";
    expect(messageOf(() => parseAddress(text, options))).toMatch(
      /^(?!.*s3cret).*Can't use "user" in the URL.*PROBELAB_MEASUREMENTS_USER/,
    );
  });

  it.each([
    "clickhouse://ann:s3cret@host/db",
    "htp://ann:s3cret/@host/db",
    "ann:s3cret@host:9/db",
    "ann:s3cret@x@host",
    "http://ann:s3cret%zz@host/db",
    "http://ann:s3cret@host:99999/db",
    "",
    "embedded:",
  ])("refuses %j, without its password", (text) => {
    expect(() => parseAddress(text, options)).toThrow(/PROBELAB_MEASUREMENTS/);
    expect(messageOf(() => parseAddress(text, options))).not.toContain("s3cret");
  });
});

describe("findSource(name)", () => {
  it("prefers the option, then the environment, then the config file, then .probelab", () => {
    const env = { PROBELAB_MEASUREMENTS: "embedded:env" };
    expect(findSource("measurements", {}, {}, root).label).toBe("embedded:.probelab");
    writeFileSync(join(root, "probelab.config.json"), '{ "measurements": "embedded:config" }');
    expect(findSource("measurements", {}, {}, root).label).toBe("embedded:config");
    expect(findSource("measurements", {}, env, root).label).toBe("embedded:env");
    const options = { measurements: "embedded:option" };
    expect(findSource("measurements", options, env, root).label).toBe("embedded:option");
    expect(findSource("logs", {}, env, root).label).toBe("embedded:env");
  });

  it("refuses a config file that is cut or holds what it can't use, naming the file", () => {
    const path = join(root, "probelab.config.json");
    writeFileSync(path, '{ "measurements": ');
    expect(() => findSource("measurements", {}, {}, root)).toThrow(
      /probelab\.config\.json: .*JSON/,
    );
    writeFileSync(path, '{ "password": "s3cret" }');
    expect(() => findSource("measurements", {}, {}, root)).toThrow(/"password".*PROBELAB_/);
    expect(messageOf(() => findSource("measurements", {}, {}, root))).not.toContain("s3cret");
    writeFileSync(path, '{ "measurements": 5 }');
    expect(() => findSource("measurements", {}, {}, root)).toThrow(/"measurements": 5/);
    rmSync(path);
  });
});
