import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { originRecord } from "../../../src/chart/render/origin.js";
import { makeResult, weeklyCounts } from "../support/sample-results.js";

const secrets = fc
  .string({ minLength: 6, maxLength: 12, unit: fc.constantFrom(..."abcXYZ019!$%*+;=._~-:@") })
  .filter((text) => /[a-zA-Z0-9]{3}/.test(text));

describe("originRecord(origin)", () => {
  test("holds the question, the server and the reductions, as JSON", () => {
    const record = originRecord(weeklyCounts().origin, ["Regrouped by day."]);
    expect(record).toMatchObject({
      parameters: { start: "2026-02-01 00:00:00" },
      range: { start: "2026-02-01T00:00:00.000Z", timeZone: "UTC" },
      source: "embedded:.probelab",
      rowsRead: 4_812_003,
      askedAt: "2026-05-01T09:30:00.000Z",
    });
    expect(record.reductions).toHaveLength(2);
    expect(record.versions).toHaveProperty("probelab");
    expect(JSON.parse(JSON.stringify(record))).toEqual(record);
  });

  test("holds no user name or password of an address, wherever it stands", () => {
    fc.assert(
      fc.property(secrets, secrets, (user, password) => {
        const address = `https://${user}:${encodeURIComponent(password)}@db.example:8443/default`;
        const { origin } = makeResult({ x: [1] }, undefined, {
          source: address,
          sql: `SELECT * FROM url('${address}', CSV)`,
          parameters: { from: address, password, api_key: password, [address]: 1 },
          reductions: [`Read from ${address}.`],
          notes: [`${address} is slow.`],
        });
        const text = JSON.stringify(originRecord(origin));
        const encoded = encodeURIComponent(password);
        expect(text).not.toContain(`:${encoded}@`);
        expect(text).not.toContain(`//${user}`);
        expect(text).toContain("db.example:8443/default");
      }),
      { numRuns: 300, seed: 4 },
    );
  });

  test("parameters named after a secret are left out, in objects too", () => {
    const { origin } = makeResult({ x: [1] }, undefined, {
      parameters: { userPassword: "hunter2", options: { token: "hunter2", depth: 1 } },
    });
    expect(originRecord(origin).parameters).toEqual({
      userPassword: "(left out)",
      options: { token: "(left out)", depth: 1 },
    });
    for (const name of ["pw", "auth", "key", "X-Api-Key", "accessKey"]) {
      const sql = `SELECT * FROM url('https://x.example/?${name}=hunter2&n=1')`;
      const named = makeResult({ x: [1] }, undefined, { sql, parameters: { [name]: "hunter2" } });
      const text = JSON.stringify(originRecord(named.origin));
      expect(text).not.toContain("hunter2");
      expect(text).toContain("n=1");
    }
  });
});

test("a long SQL stays whole in the record; any other text over 20,000 characters says that it was cut", () => {
  const sql = `SELECT ${"x, ".repeat(20_000)}1`;
  const { origin } = makeResult({ x: [1] }, undefined, {
    sql,
    parameters: { a: "a".repeat(30_000) },
  });
  const record = originRecord(origin) as { sql: string; parameters: { a: string } };
  expect(record.sql).toBe(sql);
  expect(record.parameters.a).toBe(`${"a".repeat(19_999)}…`);
});
