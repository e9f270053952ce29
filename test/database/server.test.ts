import { describe, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { parseAddress } from "../../src/database/address.js";
import { openWriter } from "../../src/database/writer.js";
import { between, connect } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

const own = ownDatabase();

describe("connect({ measurements: URL })", () => {
  it("says how to fill an embedded database that is still empty", async () => {
    await using empty = await temporaryDirectory();
    await using lab = await connect({ measurements: `embedded:${empty.path}` });
    await expect(
      lab.measurements.counts({ range: between("2026-05-01", "2026-05-02") }),
    ).rejects.toThrow(/UNKNOWN_TABLE.*fill it with "npx probelab sample"/);
  });

  it("names the database that is missing", async () => {
    await expect(connect({ measurements: own.url.replace(/[^/]*$/, "nowhere") })).rejects.toThrow(
      /nowhere.*UNKNOWN_DATABASE.*end of the URL/,
    );
  });
});

it("openWriter(source) refuses a server: probelab only reads it", async () => {
  const source = parseAddress("http://localhost/x", { root: "/", name: "test" });
  await expect(openWriter(source)).rejects.toThrow(/Can't write to http.*embedded databases only/);
});

it("Database.open(source) leaves no server behind where it fails", async () => {
  const source = { kind: "embedded", directory: "/dev/null/nowhere", label: "embedded:x" } as const;
  await expect(Database.open(source)).rejects.toThrow(
    /Can't write the embedded database's directory/,
  );
});
