import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A real answer on its way. */
export interface PassingAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Changes an answer, or gives another one, to a question's request. */
export type Change = (
  answer: PassingAnswer,
  response: ServerResponse,
  request: IncomingMessage,
) => unknown;

/** A proxy before a real server, which changes what passes; `await using` ends it. */
export interface AnswerGate extends AsyncDisposable {
  /** The server's URL, through the gate. */
  readonly url: string;
  /** Changes the answers to questions whose SQL holds `part`, or answers in the server's stead. */
  on(part: string, change: Change): void;
  /** Changes the URLs of questions on their way to the server. */
  ask(change: (url: URL) => void): void;
  /** All answers pass again. */
  open(): void;
}

export async function answerGate(url: string): Promise<AnswerGate> {
  let rule: { part: string; change: Change } | undefined;
  let asking: (url: URL) => void = () => undefined;
  const target = new URL(url);
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const asked = Buffer.concat(parts);
    const passed = ["authorization", "content-type"].flatMap((name) => {
      const value = request.headers[name];
      return typeof value === "string" ? [[name, value] as [string, string]] : [];
    });
    const place = new URL(request.url ?? "", target);
    asking(place);
    const real = await fetch(place, {
      method: "POST",
      headers: Object.fromEntries(passed),
      body: asked,
    });
    const kept = [...real.headers].filter(([name]) => name.startsWith("x-clickhouse"));
    const answer: PassingAnswer = {
      status: real.status,
      headers: Object.fromEntries(kept),
      body: Buffer.alloc(0),
    };
    let broken = false;
    try {
      for await (const part of real.body ?? []) answer.body = Buffer.concat([answer.body, part]);
    } catch {
      broken = true; // by the server, in mid-answer
    }
    if (rule !== undefined && asked.includes(rule.part))
      await rule.change(answer, response, request);
    if (response.headersSent || response.destroyed || response.socket === null) return;
    if (broken) {
      response.writeHead(answer.status, answer.headers);
      response.write(answer.body, () => response.destroy());
      return;
    }
    response.writeHead(answer.status, { ...answer.headers, "content-length": answer.body.length });
    response.end(answer.body);
  };
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${target.pathname}`,
    on: (part, change) => void (rule = { part, change }),
    ask: (change) => void (asking = change),
    open: () => void (rule = undefined),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
