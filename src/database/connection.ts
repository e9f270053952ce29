import { ClickHouseLogLevel, createClient, type ClickHouseClient } from "@clickhouse/client";
import { existsSync, readFileSync } from "node:fs";
import { Agent } from "node:https";
import { rootCertificates } from "node:tls";
import { ProbelabError } from "../base/error.js";
import { EMBEDDED_DATABASE, TOKEN_HEADER } from "./embedded/directory.js";
import { joinServer, type Lease } from "./embedded/join.js";
import type { DatabaseAddress, Tls } from "./address.js";

/** A connection to a ClickHouse server; gives a new client when the embedded server has ended. */
export interface Connection extends AsyncDisposable {
  readonly label: string;
  readonly database: string;
  client(): Promise<ClickHouseClient>;
  /** Drops a server that no longer answers. */
  forget(): void;
  /** Turns compression off: it is a setting, which not every user may send. */
  plain(): void;
}

/** Rights at an embedded server: `reader` may read its tables and nothing else. */
export type Role = "reader" | "writer";

/** Connects to a source; a remote server is not asked anything yet. */
export function openConnection(
  source: DatabaseAddress,
  requestSeconds: number,
  role: Role = "reader",
): Connection {
  return source.kind === "embedded"
    ? embeddedConnection(source, requestSeconds, role)
    : serverConnection(source, requestSeconds);
}

const COMMON = {
  // Errors are thrown with a remedy; the client's own log would show settings too.
  log: { level: ClickHouseLogLevel.OFF },
  application: "probelab",
  max_open_connections: 8,
  max_response_headers_size: 1 << 20,
  compression: { request: false, response: false },
  keep_alive: { idle_socket_ttl: 2_000 },
};

function embeddedConnection(
  { directory, label }: Extract<DatabaseAddress, { kind: "embedded" }>,
  requestSeconds: number,
  role: Role,
): Connection {
  let joined: Promise<{ lease: Lease; client: ClickHouseClient }> | null = null;
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
    const client = createClient({
      ...COMMON,
      url: `http://127.0.0.1:${lease.server.port}`,
      database: EMBEDDED_DATABASE,
      http_headers: { [TOKEN_HEADER]: role === "writer" ? writerToken : token },
      request_timeout: requestSeconds * 1000,
      set_basic_auth_header: false,
    });
    return { lease, client };
  };
  return {
    label,
    database: EMBEDDED_DATABASE,
    async client() {
      const seen = joined;
      const current = seen && (await seen.catch(() => null));
      // Checked each time: a server that has ended may have left its port to a stranger.
      if (current?.lease.check()) return current.client;
      if (joined === seen) {
        joined = join();
        await current?.client.close();
      }
      return (await (joined ?? join())).client;
    },
    forget() {
      void joined?.then(({ lease }) => lease[Symbol.dispose]()).catch(() => undefined);
      joined = null;
    },
    plain: () => undefined,
    async [Symbol.asyncDispose]() {
      const current = joined && (await joined.catch(() => null));
      joined = null;
      await current?.client.close();
      current?.lease[Symbol.dispose]();
    },
  };
}

function serverConnection(
  source: Extract<DatabaseAddress, { kind: "server" }>,
  requestSeconds: number,
): Connection {
  const { tls, username, password } = source;
  const settings: Parameters<typeof createClient>[0] = {
    ...COMMON,
    ...(tls && { http_agent: secureAgent(tls) }),
    // With a certificate and no password the certificate names the user.
    ...(tls?.cert !== undefined &&
      password === "" && {
        set_basic_auth_header: false,
        http_headers: { "X-ClickHouse-User": username, "X-ClickHouse-SSL-Certificate-Auth": "on" },
      }),
    url: source.url,
    ...(source.prefix !== undefined && { pathname: source.prefix }),
    database: source.database,
    username,
    password,
    request_timeout: requestSeconds * 1000,
  };
  // Only a network is worth the processor time of compression.
  let client = createClient({ ...settings, compression: { request: false, response: true } });
  return {
    label: source.label,
    database: source.database,
    client: () => Promise.resolve(client),
    forget: () => undefined,
    plain() {
      void client.close();
      client = createClient(settings);
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Verifies the server with the deployment's own certificates. */
function secureAgent({ ca, cert, key }: Tls): Agent {
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
  return new Agent({
    keepAlive: true,
    maxSockets: COMMON.max_open_connections,
    ...(ca !== undefined && { ca: [...rootCertificates, read(ca)] }),
    ...(cert !== undefined && key !== undefined && { cert: read(cert), key: read(key) }),
  });
}
