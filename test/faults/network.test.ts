import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { parseSource } from "../../src/database/source.js";
import { answerGate } from "../support/answer-gate.js";
import { restrictedServer, type RestrictedServer } from "../support/restricted-server.js";
import { FAULTS, type Fault } from "./network-faults.js";

/** A server of one's own, such as that of compose.yaml, as a user with a password. */
const configured = process.env["PROBELAB_TEST_SERVER"];
let server: RestrictedServer | undefined;
let target: URL;
beforeAll(async () => {
  server = configured === undefined ? await restrictedServer() : undefined;
  target = new URL(configured ?? server?.as("ro2") ?? "");
});
afterAll(() => server?.[Symbol.asyncDispose]());

const SQL = "SELECT number AS n, toString(number) AS text FROM numbers(5)";
const KINDS = ["ask", "rows", "open"] as const;

/** The rows that came, or the error's text. */
async function outcome(fault: Fault, kind: (typeof KINDS)[number]): Promise<string> {
  const { username, password } = target;
  await using gate = await answerGate(`${target.origin}${target.pathname}`);
  const url = gate.url.replace("//", `//${username}:${password}@`);
  const source = parseSource(url, { root: "/", name: "test" });
  const limits = { maxSeconds: fault.maxSeconds ?? 60, maxMemory: 10_000_000 };
  const ask = async (): Promise<string> => {
    if (kind === "open") gate.on("system.settings", fault.change);
    await using database = await Database.open(source, limits);
    if (kind === "open")
      return `ClickHouse${/^\d+\./.test(database.version) ? "" : " of no version"}`;
    gate.on("numbers(5)", fault.change);
    if (kind === "rows") return JSON.stringify(await database.rows(SQL, {}, "ask"));
    const { table, retries } = await database.ask({ sql: SQL, parameters: {}, action: "ask" });
    return JSON.stringify(table.objects()) + (retries > 0 ? ` asked ${retries + 1} times` : "");
  };
  const text = await ask().catch((error: unknown) => (error as Error).message);
  expect(text).not.toMatch(new RegExp(`:${password}|${btoa(`${username}:${password}`)}|ann:|pw@`));
  return text
    .replaceAll(new URL(gate.url).origin, "SERVER")
    .replace(/(?<![\d,])\d{3,} (characters|bytes)/, "some $1");
}

const cases = FAULTS.flatMap((fault) =>
  KINDS.map((kind, at) => {
    const told = typeof fault.told === "string" ? fault.told : (fault.told[at] ?? "");
    const isAnswer = /^(\[|ClickHouse)/.test(told);
    const error = `Can't ${kind === "open" ? "connect" : "ask"}: ${told}`;
    return { kind, fault, name: fault.name, told: isAnswer ? told : error };
  }),
);

describe("between the server and us", () => {
  it.concurrent.for(cases)("$kind: $name", async ({ kind, fault, told }, { expect }) => {
    expect(await outcome(fault, kind)).toBe(told);
  });
});
