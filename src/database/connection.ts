import { ClickHouseLogLevel, createClient, type ClickHouseClient } from "@clickhouse/client";
import { readFileSync } from "node:fs";
import { Agent } from "node:https";
import { rootCertificates } from "node:tls";
import { ProbelabError } from "../base/error.js";
import { EMBEDDED_DATABASE, placeOf, TOKEN_HEADER } from "./embedded/directory.js";
import { joinServer } from "./embedded/join.js";
import type { Lease } from "./embedded/lease.js";
import type { Source, Tls } from "./source.js";

/** A way to a ClickHouse server: gives a client, a new one when the embedded server has ended. */
export interface Connection extends AsyncDisposable {
  readonly label: string;
  readonly database: string;
  client(): Promise<ClickHouseClient>;
  /** Lets go of a server that no longer answers, before its end was noticed. */
  forget(): void;
  /** Asks for plain answers from now on: compression is a setting, which not every user may send. */
  plain(): void;
}

/** What an embedded server lets a connection do: `reader` may read its tables and nothing else. */
export type Role = "reader" | "writer";

/** Opens the way that a source names; nothing is asked yet of a remote server. */
export function openConnection(
  source: Source,
  requestSeconds: number,
  role: Role = "reader",
): Connection {
  return source.kind === "embedded"
    ? embeddedConnection(source, requestSeconds, role)
    : serverConnection(source, requestSeconds);
}

const COMMON = {
  // Errors are thrown, told once and with a remedy; the client's own log would show settings too.
  log: { level: ClickHouseLogLevel.OFF },
  application: "probelab",
  max_open_connections: 8,
  max_response_headers_size: 1 << 20,
  compression: { request: false, response: false },
  keep_alive: { idle_socket_ttl: 2_000 },
};

function embeddedConnection(
  { directory, label }: Extract<Source, { kind: "embedded" }>,
  requestSeconds: number,
  role: Role,
): Connection {
  let joined: Promise<{ lease: Lease; client: ClickHouseClient }> | null = null;
  let opened = false;
  const join = async () => {
    if (opened && (await placeOf(directory)) === null) {
      throw new ProbelabError(
        `Can't use ${label} any more: its directory was renamed or removed meanwhile. Put it back, or connect to where it is now.`,
      );
    }
    const lease = await joinServer(directory);
    opened = true;
    const { token, writerToken } = lease.server;
    const client = createClient({
      ...COMMON,
      url: `http://127.0.0.1:${lease.server.httpPort}`,
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
      // Asked each time: a server that has ended may have left its port to a stranger.
      if (current && (await current.lease.check())) return current.client;
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
  source: Extract<Source, { kind: "server" }>,
  requestSeconds: number,
): Connection {
  const { tls, username, password } = source;
  const settings: Parameters<typeof createClient>[0] = {
    ...COMMON,
    ...(tls && { http_agent: secureAgent(tls) }),
    // Who shows a certificate and has no password is who the certificate says.
    ...(tls?.cert !== undefined &&
      password === "" && {
        set_basic_auth_header: false,
        http_headers: { "X-ClickHouse-User": username, "X-ClickHouse-SSL-Certificate-Auth": "on" },
      }),
    url: source.url,
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

/** Keeps connections that verify the server, with certificates of the deployment's own. */
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
