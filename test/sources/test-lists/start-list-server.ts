import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** The recorded and broken API of list-server.mjs, in a process of its own. */
export interface ListServer extends AsyncDisposable {
  /** The base address whose answers are of that kind. */
  base(kind: string): string;
  /** How often each address was asked. */
  asked(): Promise<Record<string, number>>;
}

export async function startListServer(): Promise<ListServer> {
  const path = fileURLToPath(new URL("list-server.mjs", import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const origin = `http://127.0.0.1:${line.toString().trim()}`;
  return {
    base: (kind) => `${origin}/${kind}`,
    asked: async () => (await (await fetch(`${origin}/asked`)).json()) as Record<string, number>,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}
