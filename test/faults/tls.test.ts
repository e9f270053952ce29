import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { request as ask } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { findSource } from "../../src/database/settings.js";
import { ownDatabase } from "../support/own-database.js";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.js";

/*
 * The engine of the packages listens without TLS only: what stands before it here is Node's own TLS,
 * as a proxy stands before many servers; compose.yaml has the server's own https port.
 */
const own = ownDatabase();
let folder: TemporaryDirectory;
const servers: Server[] = [];
const heard: string[] = [];

const file = (name: string) => join(folder.path, name);

function certificate(name: string, names: string, authority: string): void {
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const own = ["-keyout", file(`${name}.key`), "-subj", `/CN=${name}`, "-days", "2"];
  const pem = ["-out", file(`${name}.pem`)];
  if (name === authority) {
    openssl("req", "-x509", ...key, ...own, ...pem);
    return;
  }
  const signed = ["-CA", file(`${authority}.pem`), "-CAkey", file(`${authority}.key`)];
  openssl("req", "-x509", ...key, ...own, ...pem, ...signed, "-addext", `subjectAltName=${names}`);
}

/** Signs a certificate anew, for other days. */
function resign(name: string, from: string, until: string): void {
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  openssl(
    "x509",
    "-x509toreq",
    "-in",
    file(`${name}.pem`),
    "-signkey",
    file(`${name}.key`),
    "-out",
    file(`${name}.csr`),
  );
  const settings = `[ca]\ndefault_ca=d\n[d]\ndatabase=${file("index")}\nserial=${file("serial")}\nnew_certs_dir=${folder.path}\ndefault_md=sha256\npolicy=p\nx509_extensions=x\n[p]\ncommonName=supplied\n[x]\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n`;
  writeFileSync(file("ca.cnf"), settings);
  writeFileSync(file("index"), "");
  writeFileSync(file("serial"), "01\n");
  const authority = ["-cert", file("authority.pem"), "-keyfile", file("authority.key")];
  const days = ["-startdate", from, "-enddate", until];
  openssl(
    "ca",
    "-batch",
    "-config",
    file("ca.cnf"),
    ...authority,
    ...days,
    "-in",
    file(`${name}.csr`),
    "-out",
    file(`${name}.pem`),
  );
}

beforeAll(async () => {
  folder = await temporaryDirectory();
  execFileSync("mkdir", ["-p", folder.path]);
  certificate("authority", "", "authority");
  certificate("stranger", "", "stranger");
  certificate("server", "DNS:localhost,IP:127.0.0.1", "authority");
  certificate("elsewhere", "DNS:elsewhere.example", "authority");
  certificate("ann", "DNS:ann", "authority");
  certificate("expired", "DNS:localhost,IP:127.0.0.1", "authority");
  resign("expired", "20200101000000Z", "20200201000000Z");
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await folder[Symbol.asyncDispose]();
});

/** TLS before the engine; `mutual` asks who is there. */
async function secured(name: string, mutual = false): Promise<string> {
  const target = new URL(own.url);
  const server = createServer(
    {
      cert: readFileSync(file(`${name}.pem`)),
      key: readFileSync(file(`${name}.key`)),
      ...(mutual && { ca: readFileSync(file("authority.pem")), requestCert: true }),
    },
    (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      const { authorization = "", "x-clickhouse-user": user = "" } = request.headers;
      heard.push(`${String(subject?.CN ?? "nobody")} as ${String(user) || authorization}`);
      const passed = ask(
        new URL(request.url ?? "", target.origin),
        { method: request.method, auth: `${target.username}:${target.password}` },
        (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        },
      );
      request.pipe(passed);
    },
  );
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname}`;
}

async function asked(measurements: string, tls?: Record<string, string>): Promise<string> {
  const variable = tls && { PROBELAB_TLS: JSON.stringify(tls) };
  const source = findSource("measurements", { measurements }, { ...variable }, folder.path);
  await using database = await Database.open(source);
  const [row] = await database.rows<{ n: number }>("SELECT 17 AS n");
  return String(row?.n);
}

const refused = (code: string) =>
  new RegExp(`can't be asked by TLS: .*\\(${code}\\)\\. Check that https:// .*PROBELAB_TLS\\.$`);

describe("https", () => {
  it("is answered where the authority is known", async () => {
    expect(await asked(await secured("server"), { ca: "authority.pem" })).toBe("17");
  });

  it.each([
    ["server", undefined, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ["server", { ca: "stranger.pem" }, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ["stranger", { ca: "authority.pem" }, "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ] as const)("is refused of %s with %j", async (name, tls, code) => {
    const before = heard.length;
    await expect(asked(await secured(name), tls)).rejects.toThrow(refused(code));
    expect(heard).toHaveLength(before);
  });

  it("shows a client's certificate, and who it is of where there is no password", async () => {
    const url = await secured("server", true);
    const tls = { ca: "authority.pem", cert: "ann.pem", key: "ann.key" };
    expect(await asked(url.replace("//", "//ann@"), tls)).toBe("17");
    expect(heard.at(-1)).toBe("ann as ann");
    expect(await asked(url.replace("//", "//bob:s3cret@"), tls)).toBe("17");
    expect(heard.at(-1)).toBe(`ann as Basic ${btoa("bob:s3cret")}`);
  });

  it("is no answer without the certificate that is asked for", async () => {
    const url = await secured("server", true);
    await expect(asked(url, { ca: "authority.pem" })).rejects.toThrow(refused("\\w+"));
  });

  it("gives Node's code: another name, an expired certificate, a key of another, a port without TLS", async () => {
    const ca = { ca: "authority.pem" };
    const pair = { ...ca, cert: "ann.pem", key: "server.key" };
    for (const [url, tls, code] of [
      [await secured("elsewhere"), ca, "ERR_TLS_CERT_ALTNAME_INVALID"],
      [await secured("expired"), ca, "CERT_HAS_EXPIRED"],
      [await secured("server", true), pair, "\\w*KEY_VALUES_MISMATCH"],
      [own.url.replace("http:", "https:"), ca, "\\w+"],
    ] as const) {
      await expect(asked(url, tls)).rejects.toThrow(refused(code));
    }
  });
});

describe("PROBELAB_TLS that can't be used is told", () => {
  it.each([
    [{ ca: "nowhere.pem" }, /Can't read the certificate .*nowhere\.pem \(ENOENT\): give the path/],
    [{ cert: "ann.pem" }, /Can't use "tls" without "key": a client's certificate needs both/],
    [
      { authority: "a.pem" },
      /Can't use "authority" in tls in PROBELAB_TLS: it may hold "ca", "cert"/,
    ],
  ])("%j", async (tls, told) => {
    await expect(asked("https://127.0.0.1:1/db", tls)).rejects.toThrow(told);
  });
});
