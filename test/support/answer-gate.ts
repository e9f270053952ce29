import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A real answer on its way. */
export interface PassingAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** A proxy before a real server, which changes what passes; `await using` ends it. */
export interface AnswerGate extends AsyncDisposable {
  /** The server's URL, through the gate. */
  readonly url: string;
  /** Changes the answers to questions whose SQL holds `part`, or answers in the server's stead. */
  on(part: string, change: (answer: PassingAnswer, response: ServerResponse) => unknown): void;
  /** All answers pass again. */
  open(): void;
}

export async function answerGate(url: string): Promise<AnswerGate> {
  let rule: { part: string; change: Parameters<AnswerGate["on"]>[1] } | undefined;
  const target = new URL(url);
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const asked = Buffer.concat(parts);
    const passed = ["authorization", "content-type"].flatMap((name) => {
      const value = request.headers[name];
      return typeof value === "string" ? [[name, value] as [string, string]] : [];
    });
    const real = await fetch(`${target.origin}${request.url ?? ""}`, {
      method: "POST",
      headers: Object.fromEntries(passed),
      body: asked,
    });
    const kept = [...real.headers].filter(([name]) => name.startsWith("x-clickhouse"));
    const answer: PassingAnswer = {
      status: real.status,
      headers: Object.fromEntries(kept),
      body: Buffer.from(await real.arrayBuffer()),
    };
    if (rule !== undefined && asked.includes(rule.part)) rule.change(answer, response);
    if (response.headersSent) return;
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
    open: () => void (rule = undefined),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
