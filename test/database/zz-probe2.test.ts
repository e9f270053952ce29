import { it } from "vitest";
import { createClient } from "@clickhouse/client";
import { restrictedServer } from "../support/restricted-server.js";
import { Database } from "../../src/database/database.js";
import { parseSource } from "../../src/database/source.js";
import { appendFileSync } from "node:fs";
const log = (...a: unknown[]) => appendFileSync("/tmp/base-probe2.txt", a.map((x) => typeof x === "string" ? x : JSON.stringify(x)).join(" ") + "\n");
it("p", async () => {
  await using server = await restrictedServer({
    maxlim: { settings: { readonly: 2, limit: 50 }, constraints: { limit: { min: 10, max: 50 } } },
    maxonly: { settings: { readonly: 2, limit: 50 }, constraints: { limit: { max: 50 } } },
    minonly: { settings: { readonly: 2, offset: 5 }, constraints: { offset: { min: 1 } } },
  });
  for (const u of ["maxlim", "maxonly", "minonly"]) {
    const c = createClient({ url: server.as(u) });
    const r = await c.query({ query: "SELECT number FROM numbers(100)", format: "JSON" });
    log(u, "raw rows", (await r.json()).rows);
    const s = await c.query({ query: "SELECT name, value, min, max, readonly, changed FROM system.settings WHERE name IN ('limit','offset')", format: "JSONEachRow" });
    log(u, await s.json());
    await c.close();
    try { await using d = await Database.open(parseSource(server.as(u), { root: "/", name: "t" })); const a = await d.ask({ sql: "SELECT number FROM numbers(100)", parameters: {}, action: "x" }); log(u, "ours", a.table.numRows()); } catch (e) { log(u, (e as Error).message); }
  }
});
