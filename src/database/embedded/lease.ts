import { randomBytes } from "node:crypto";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { holds, proof, type ServerRecord } from "./directory.js";

/** A held place at a running embedded server; the server lives as long as somebody holds one. */
export interface Lease extends Disposable {
  readonly server: ServerRecord;
  /** Asks the server whether it still runs and holds the directory; after a false the lease is lost. */
  check(): Promise<boolean>;
}

/** How long the other side may take to answer a line, in milliseconds. */
const PATIENCE = 5_000;

/*
 * Both sides speak lines. To each nonce the server answers with its proof and a nonce of its own,
 * which the user answers with his: the secret is never sent, since after a server's end anybody
 * may listen on its port.
 */

/**
 * Takes a lease at the recorded server of a directory; null where it no longer answers, or cannot
 * prove that it is the one that the record is of.
 */
export async function takeLease(server: ServerRecord, directory: string): Promise<Lease | null> {
  const socket = connect({ host: "127.0.0.1", port: server.leasePort });
  const waiting: ((line: string | null) => void)[] = [];
  const answered = (line: string | null) => {
    waiting.shift()?.(line);
    if (waiting.length > 0) return;
    socket.setTimeout(0);
    socket.unref(); // a forgotten connection must not keep a notebook's process alive
  };
  socket.setTimeout(PATIENCE, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("close", () => {
    while (waiting.length > 0) answered(null);
  });
  onLines(socket, answered);
  const ask = (line: string) =>
    new Promise<string | null>((resolve) => {
      if (socket.destroyed) return resolve(null);
      waiting.push(resolve);
      socket.ref();
      socket.setTimeout(PATIENCE);
      socket.write(`${line}\n`);
    });
  const challenge = async () => {
    const nonce = newNonce();
    const [answer, challenge] = (await ask(nonce))?.split(" ") ?? [];
    return answer === proof(server.secret, "server", nonce) ? challenge : undefined;
  };
  const posed = await challenge();
  if (posed === undefined || (await ask(proof(server.secret, "user", posed))) !== "ok") {
    socket.destroy();
    return null;
  }
  return {
    server,
    async check() {
      if ((await holds(server, directory)) && (await challenge()) !== undefined) return true;
      socket.destroy();
      return false;
    },
    [Symbol.dispose]() {
      socket.destroy();
    },
  };
}

/**
 * Counts the users of a server, `connections` at most; `gone` runs when there has been none for
 * `grace` milliseconds.
 *
 * @returns the loopback port that it listens on.
 */
export function listenForLeases(
  { secret, grace, connections }: Record<"grace" | "connections", number> & { secret: string },
  gone: () => void,
): Promise<number> {
  const leases = new Set<Socket>();
  let timer: NodeJS.Timeout;
  const restart = (delay: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (leases.size === 0) gone();
    }, delay);
  };
  restart(30_000); // whoever started this server needs a moment to take the first lease
  const server = createServer((socket) => {
    const posed = newNonce();
    socket.setTimeout(PATIENCE, () => {
      if (!leases.has(socket)) socket.destroy();
    });
    onLines(socket, (line) => {
      if (line === proof(secret, "user", posed)) {
        leases.add(socket);
        socket.write("ok\n");
      } else socket.write(`${proof(secret, "server", line)} ${posed}\n`);
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      if (leases.delete(socket) && leases.size === 0) restart(grace);
    });
  });
  server.maxConnections = connections;
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/** A number that was never used before. */
export function newNonce(): string {
  return randomBytes(32).toString("hex");
}

function onLines(socket: Socket, take: (line: string) => void): void {
  let said = "";
  socket.setEncoding("utf8");
  socket.on("data", (part: string) => {
    said += part;
    for (let end = said.indexOf("\n"); end >= 0; end = said.indexOf("\n")) {
      const line = said.slice(0, end);
      said = said.slice(end + 1);
      take(line);
    }
    if (said.length > 1000) socket.destroy(); // nobody who knows the protocol
  });
}
