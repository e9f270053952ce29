import { createServer, type AddressInfo } from "node:net";
import { createServer as createHttpServer, type Server } from "node:http";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { readRecord, TOKEN_HEADER } from "../../src/database/embedded/directory.js";
import { openWriter } from "../../src/database/writer.js";
import { parseSource } from "../../src/database/source.js";
import type { Writer } from "../../src/database/writer.js";
import { between, connect } from "../../src/index.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";

/** A real ClickHouse reached by its URL: the embedded one behind a gate that adds its secret. */
let directory: TemporaryDirectory;
let writer: Writer;
let gate: Server;
let url: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  writer = await openWriter(directory.source);
  await writer.command(
    `CREATE TABLE fastpath (measurement_start_time DateTime('UTC'), report_id String, software_name String, software_version String)
     ENGINE = MergeTree ORDER BY measurement_start_time`,
  );
  await writer.command(
    "INSERT INTO fastpath VALUES ('2026-05-01 12:00:00', 'r', 'probe-cli', '3.20')",
  );
  const { port = 0, token = "" } = readRecord(directory.path) ?? {};
  gate = createHttpServer((request, response) => {
    void (async () => {
      const body: Buffer[] = [];
      for await (const part of request) body.push(part as Buffer);
      const answer = await fetch(`http://127.0.0.1:${port}${request.url ?? ""}`, {
        method: "POST",
        headers: { [TOKEN_HEADER]: token, "content-type": request.headers["content-type"] ?? "" },
        body: Buffer.concat(body),
      });
      const headers = [...answer.headers].filter(([name]) => name.startsWith("x-clickhouse"));
      response.writeHead(answer.status, Object.fromEntries(headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    })();
  });
  await new Promise<void>((resolve) => gate.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(gate.address() as AddressInfo).port}/probelab`;
});

afterAll(async () => {
  gate.close();
  await writer[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

describe("connect({ measurements: URL })", () => {
  it("answers as the embedded database does, and its now is the present", async () => {
    await using lab = await connect({ measurements: url.replace("//", "//default:@") });
    const before = Date.now();
    expect(lab.now.getTime()).toBeGreaterThan(before - 60_000);
    const counts = await lab.measurements.counts({
      range: between("2026-05-01", "2026-05-02"),
      every: "all",
      by: "software_version",
    });
    expect(counts.rows()).toEqual([{ software_version: "3.20", measurements: 1 }]);
    expect(counts.origin.source).toBe(url);
  });

  it("says that a server is down, without user and password", async () => {
    const port = await new Promise<number>((resolve) => {
      const server = createServer().listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo;
        server.close(() => resolve(port));
      });
    });
    const opened = connect({ measurements: `http://ann:s3cret@127.0.0.1:${port}/db` });
    await expect(opened).rejects.toThrow(
      `Can't connect: http://127.0.0.1:${port}/db does not answer (ECONNREFUSED). Check that the server is up`,
    );
    await expect(opened.catch(inspect)).resolves.not.toMatch(/ann|s3cret/);
  });

  it("says how to fill an embedded database that is still empty", async () => {
    await using empty = await temporaryDirectory();
    await using lab = await connect({ measurements: `embedded:${empty.path}` });
    await expect(
      lab.measurements.counts({ range: between("2026-05-01", "2026-05-02") }),
    ).rejects.toThrow(/UNKNOWN_TABLE.*fill it with "npx probelab sample"/);
  });

  it("names the database that is missing", async () => {
    await expect(connect({ measurements: url.replace("probelab", "nowhere") })).rejects.toThrow(
      /nowhere.*UNKNOWN_DATABASE.*end of the URL/,
    );
  });
});

it("openWriter(source) refuses a server: probelab only reads it", async () => {
  const source = parseSource(url, { root: "/", name: "test" });
  await expect(openWriter(source)).rejects.toThrow(/Can't write to http.*embedded databases only/);
});

it("Database.open(source) leaves no server behind where it fails", async () => {
  const source = { kind: "embedded", directory: "/dev/null/nowhere", label: "embedded:x" } as const;
  await expect(Database.open(source)).rejects.toThrow(
    /Can't write the embedded database's directory/,
  );
});
