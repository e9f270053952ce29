import { existsSync, readFileSync } from "node:fs";
import { Agent, type ClientRequestArgs } from "node:http";
import { Agent as SecureAgent } from "node:https";
import { type Duplex, PassThrough } from "node:stream";
import { rootCertificates } from "node:tls";
import { ProbelabError } from "../base/error.js";
import { EMBEDDED_DATABASE, TOKEN_HEADER } from "./embedded/directory.js";
import { joinServer, type Lease } from "./embedded/join.js";
import { HttpServer, KEPT } from "./http.js";
import type { Source, Tls } from "./source.js";

/** A connection to a ClickHouse server, to a new one when the embedded server has ended. */
export interface Connection extends AsyncDisposable {
  readonly label: string;
  readonly database: string;
  server(): Promise<HttpServer>;
  /** Drops a server that no longer answers. */
  forget(): void;
  /** Turns compression off: it is a setting, which not every user may send. */
  plain(): void;
}

/** Rights at an embedded server: `reader` may read its tables and nothing else. */
export type Role = "reader" | "writer";

/** Connects to a source; a remote server is not asked anything yet. */
export function openConnection(source: Source, role: Role = "reader"): Connection {
  return source.kind === "embedded" ? embeddedConnection(source, role) : serverConnection(source);
}

/** A new connection may reach a stranger on the port of a server that has ended; an open one can't. */
class LeasedAgent extends Agent {
  readonly #lease: Lease;

  constructor(lease: Lease) {
    super(KEPT);
    this.#lease = lease;
  }

  override createConnection(
    options: ClientRequestArgs,
    done?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    if (this.#lease.check()) return super.createConnection(options, done);
    const ended = Object.assign(new Error("the server has ended"), { code: "ECONNREFUSED" });
    done?.(ended, new PassThrough());
    return undefined;
  }
}

function embeddedConnection(
  { directory, label }: Extract<Source, { kind: "embedded" }>,
  role: Role,
): Connection {
  let joined: Promise<{ lease: Lease; server: HttpServer }> | null = null;
  let opened = false;
  const join = async () => {
    if (opened && !existsSync(directory)) {
      throw new ProbelabError(
        `Can't use ${label} any more: its directory was renamed or removed meanwhile. Put it back, or connect to where it is now.`,
      );
    }
    const lease = await joinServer(directory);
    opened = true;
    const { token, writerToken } = lease.server;
    const server = new HttpServer({
      url: `http://127.0.0.1:${lease.server.port}/`,
      database: EMBEDDED_DATABASE,
      headers: { [TOKEN_HEADER]: role === "writer" ? writerToken : token },
      agent: new LeasedAgent(lease),
      compressed: false,
    });
    return { lease, server };
  };
  return {
    label,
    database: EMBEDDED_DATABASE,
    async server() {
      const seen = joined;
      const current = seen && (await seen.catch(() => null));
      if (current?.lease.check(current.server.connected)) return current.server;
      if (joined === seen) {
        joined = join();
        current?.server.close();
      }
      return (await (joined ?? join())).server;
    },
    forget() {
      void joined?.then(({ lease }) => lease[Symbol.dispose]()).catch(() => undefined);
      joined = null;
    },
    plain: () => undefined,
    async [Symbol.asyncDispose]() {
      const current = joined && (await joined.catch(() => null));
      joined = null;
      current?.server.close();
      current?.lease[Symbol.dispose]();
    },
  };
}

function serverConnection(source: Extract<Source, { kind: "server" }>): Connection {
  const { tls, username, password } = source;
  // With a certificate and no password the certificate names the user.
  const named = tls?.cert !== undefined && password === "";
  const basic = Buffer.from(`${username}:${password}`).toString("base64");
  const place = {
    url: `${source.url}${source.prefix ?? "/"}`,
    database: source.database,
    headers: named
      ? { "X-ClickHouse-User": username, "X-ClickHouse-SSL-Certificate-Auth": "on" }
      : { Authorization: `Basic ${basic}` },
    agent: source.url.startsWith("https:") ? secureAgent(tls ?? {}) : new Agent(KEPT),
  };
  // Only a network is worth the processor time of compression.
  let server = new HttpServer({ ...place, compressed: true });
  return {
    label: source.label,
    database: source.database,
    server: () => Promise.resolve(server),
    forget: () => undefined,
    plain() {
      server = new HttpServer({ ...place, compressed: false });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(server.close()),
  };
}

/** Verifies the server with the deployment's own certificates. */
function secureAgent({ ca, cert, key }: Tls): SecureAgent {
  const read = (path: string): string => {
    try {
      return readFileSync(path, "utf8");
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      throw new ProbelabError(
        `Can't read the certificate ${path} (${code}): give the path of a PEM file in PROBELAB_TLS or "tls" of probelab.config.json.`,
        { cause },
      );
    }
  };
  return new SecureAgent({
    ...KEPT,
    ...(ca !== undefined && { ca: [...rootCertificates, read(ca)] }),
    ...(cert !== undefined && key !== undefined && { cert: read(cert), key: read(key) }),
  });
}
