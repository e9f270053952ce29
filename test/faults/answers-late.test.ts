import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openConnection } from "../../src/database/connection.js";
import { Database } from "../../src/database/database.js";
import { send } from "../../src/database/request.js";
import { parseSource } from "../../src/database/source.js";
import { answerGate, type AnswerGate } from "../support/answer-gate.js";
import { restrictedServer, type RestrictedServer } from "../support/restricted-server.js";

let server: RestrictedServer;
let gate: AnswerGate;
let database: Database;

beforeAll(async () => {
  server = await restrictedServer();
  gate = await answerGate(server.url);
  const source = parseSource(gate.url, { root: "/", name: "test" });
  database = await Database.open(source, { maxSeconds: 1 });
});
beforeEach(() => gate.open());
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await gate[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const ask = (signal?: AbortSignal) =>
  database.ask({ sql: "SELECT 17 AS n", parameters: {}, action: "ask", signal });

it("the first question to a server that is frozen has the deadline of all", async () => {
  const frozen = createServer(() => undefined);
  await new Promise<void>((resolve) => frozen.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(frozen.address() as AddressInfo).port}/db`;
  const source = parseSource(url, { root: "/", name: "test" });
  await expect(Database.open(source, { maxSeconds: 1 })).rejects.toThrow(
    `Can't connect: ${url} gave no whole answer within 3 s.`,
  );
  frozen.close();
});

describe("an abort after the answer's headers", () => {
  it("ends the connection and the question, which never answers", async () => {
    const stop = new AbortController();
    const closed = new Promise<void>((resolve) => {
      gate.on("SELECT 17", ({ body }, response) => {
        response.writeHead(200, { "content-length": body.length });
        response.write(body.subarray(0, 50), () => stop.abort());
        response.on("close", resolve);
      });
    });
    await expect(ask(stop.signal)).rejects.toThrow("Stopped: ask.");
    await closed;
  });

  it("stops Database.rows(sql) as well", async () => {
    const stop = new AbortController();
    gate.on("DESCRIBE", () => stop.abort());
    await expect(
      database.rows("DESCRIBE TABLE (SELECT 1)", {}, "describe", stop.signal),
    ).rejects.toThrow("Stopped: describe.");
  });
});

it("an abort while the way to the server is found sends nothing", async () => {
  const source = parseSource(gate.url, { root: "/", name: "test" });
  await using way = openConnection(source, 5);
  const stop = new AbortController();
  const client = async () => {
    const found = await way.client();
    stop.abort();
    return found;
  };
  let isAsked = false;
  gate.on("SELECT 18", (_, response) => {
    isAsked = true;
    response.destroy();
  });
  const request = { sql: "SELECT 18", parameters: {}, settings: {}, seconds: 5, maxBytes: 1000 };
  await expect(send({ ...way, client }, { ...request, signal: stop.signal })).rejects.toMatchObject(
    { name: "AbortError" },
  );
  expect(isAsked).toBe(false);
});
