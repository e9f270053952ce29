import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** What a receiver got. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Answers 200 at once; a test gives another behaviour for the next requests. */
export async function receiver() {
  const received: Received[] = [];
  const next: ((response: ServerResponse) => void)[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      received.push({
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(parts),
      });
      const behave = next.shift();
      if (behave === undefined) response.end("ok");
      else behave(response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    /** How the next requests are answered, one each. */
    answer: (...how: ((response: ServerResponse) => void)[]) => void next.push(...how),
    texts: () =>
      received.map(({ body }) => (JSON.parse(body.toString("utf8")) as { text: string }).text),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(code, headers).end();

/** Takes the whole request and hangs up. */
export const hangUp = (response: ServerResponse): void => void response.destroy();
