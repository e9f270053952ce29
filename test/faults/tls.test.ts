import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { request as ask } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ownDatabase } from "../support/own-database.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";

/*
 * The engine of the packages listens without TLS only: what stands before it here is Node's own TLS,
 * as a proxy stands before many servers; compose.yaml has the server's own https port.
 */
const own = ownDatabase();
let folder: TemporaryDirectory;
const servers: Server[] = [];
/** How many questions came through. */
let heard = 0;

const file = (name: string) => join(folder.path, name);

function certificate(name: string, names: string, authority: string): void {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const own = ["-keyout", file(`${name}.key`), "-out", file(`${name}.pem`), "-days", "2"];
  const signed = ["-CA", file(`${authority}.pem`), "-CAkey", file(`${authority}.key`)];
  const more = name === authority ? [] : [...signed, "-addext", `subjectAltName=${names}`];
  const all = ["req", "-x509", ...key, ...own, "-subj", `/CN=${name}`, ...more];
  execFileSync("openssl", all, { stdio: "pipe" });
}

beforeAll(async () => {
  folder = await temporaryDirectory();
  mkdirSync(folder.path, { recursive: true });
  certificate("authority", "", "authority");
  certificate("stranger", "", "stranger");
  certificate("server", "DNS:localhost,IP:127.0.0.1", "authority");
  certificate("elsewhere", "DNS:elsewhere.example", "authority");
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await folder[Symbol.asyncDispose]();
});

/** TLS before the engine. */
async function secured(name: string): Promise<string> {
  const target = new URL(own.url);
  const pem = { cert: readFileSync(file(`${name}.pem`)), key: readFileSync(file(`${name}.key`)) };
  const server = createServer(pem, (request, response) => {
    heard += 1;
    const auth = `${target.username}:${target.password}`;
    const passed = ask(
      new URL(request.url ?? "", target.origin),
      { method: request.method, auth },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      },
    );
    request.pipe(passed);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname}`;
}

/** What a process says that connects; Node reads its authorities when it starts. */
function connected(url: string, authority?: string): Promise<string> {
  const index = pathToFileURL(join(import.meta.dirname, "../../dist/index.js")).href;
  const script = `import { connect } from ${JSON.stringify(index)};
    const lab = await connect({ measurements: ${JSON.stringify(url)} }).catch((error) => ({ source: error.message }));
    console.log(lab.source); process.exit();`;
  const env = { ...process.env, ...(authority && { NODE_EXTRA_CA_CERTS: file(authority) }) };
  return new Promise((resolve) =>
    execFile(process.execPath, ["--input-type=module", "-e", script], { env }, (_, out) =>
      resolve(out.trim()),
    ),
  );
}

describe("https", () => {
  it("is answered where Node knows the authority", async () => {
    const url = await secured("server");
    expect(await connected(url, "authority.pem")).toBe(url);
    expect(heard).toBeGreaterThan(0);
  });

  it.each([
    ["server", undefined, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ["server", "stranger.pem", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ["stranger", "authority.pem", "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["elsewhere", "authority.pem", "ERR_TLS_CERT_ALTNAME_INVALID"],
  ] as const)("is refused of %s with %s", async (name, authority, code) => {
    const before = heard;
    const said = await connected(await secured(name), authority);
    expect(said).toContain(`shows a certificate that is not trusted here (${code}). Start the`);
    expect(said).toContain("NODE_EXTRA_CA_CERTS=authority.pem");
    expect(heard).toBe(before);
  });
});
