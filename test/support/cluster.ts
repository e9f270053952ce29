import {
  READERS,
  freePort,
  restrictedServer,
  tryAgain,
  type RestrictedServer,
} from "./restricted-server.js";

/**
 * Real servers that know each other: the first two are the shards of the cluster `of2`, three of `of3`,
 * and all but the first of `others`.
 *
 * This kind of server may end itself as a shard whose part of a question is stopped, since the asked one
 * was interrupted or another shard failed (of some 20 times one): what follows in a test must not need it.
 */
export interface Cluster extends AsyncDisposable {
  /** The first is the one that is asked. */
  readonly shards: readonly RestrictedServer[];
  /** `127.0.0.1:PORT` of each shard's native interface, as errors name it. */
  readonly places: readonly string[];
}

/**
 * Starts so many servers, a shard each; `await using` ends them. The first takes the settings and the
 * users, by default READERS.
 *
 * @param through where the first reaches the others instead: the port of a proxy before that port.
 */
export async function startCluster(
  many: number,
  users: Parameters<typeof restrictedServer>[0] = READERS,
  settings: Parameters<typeof restrictedServer>[1] = {},
  { through = (port: number) => Promise.resolve(port), config = "" } = {},
): Promise<Cluster> {
  return tryAgain(() => startServers(many, users, settings, { through, config }));
}

async function startServers(
  many: number,
  users: Parameters<typeof restrictedServer>[0],
  settings: Parameters<typeof restrictedServer>[1],
  { through, config }: { through: (port: number) => Promise<number>; config: string },
): Promise<Cluster> {
  const ports: number[] = [];
  while (ports.length < many) ports.push(await freePort());
  const seen = await Promise.all(
    ports.map((port, at) => (at === 0 ? Promise.resolve(port) : through(port))),
  );
  const places = seen.map((port) => `127.0.0.1:${port}`);
  const remote = seen.map(
    (port) => `<shard><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`,
  );
  const clusters = ports.map(
    (_, at) => `<of${at + 1}>${remote.slice(0, at + 1).join("")}</of${at + 1}>`,
  );
  const servers = await Promise.allSettled(
    ports.map((tcp, at) =>
      restrictedServer(at === 0 ? users : {}, settings, {
        tcp,
        config: `<remote_servers>${clusters.join("")}<others>${remote.slice(1).join("")}</others></remote_servers>${config}`,
      }),
    ),
  );
  const shards = servers.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const end = async () => {
    for (const shard of shards) await shard[Symbol.asyncDispose]();
  };
  const failed = servers.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    await end();
    throw failed.reason;
  }
  return { shards, places, [Symbol.asyncDispose]: end };
}
