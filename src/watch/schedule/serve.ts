import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ProbelabError } from "../../base/error.js";
import { readOverview } from "./overview.js";
import { schedulePage } from "./page.js";

/** What a browser may ask for beside the schedule's page: the page or notebook of a run. */
const RUN_FILE =
  /^\/([A-Za-z0-9._-]+-[0-9a-f]{8})\/(\d{8}T\d{6}Z-[0-9a-f]{6})\/([^/]+\.(?:html|ipynb))$/;

/**
 * Serves a schedule's page, as it is at each request, and the pages of its runs, on loopback.
 *
 * @param port 0 for any free one
 * @throws ProbelabError where the port can't be had
 */
export async function serveSchedule(
  out: string,
  port: number,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const { host = "", origin } = request.headers;
    // Another site's name that leads to loopback must not read what is here.
    const isOwn = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(host) && origin === undefined;
    if (!isOwn || (request.method !== "GET" && request.method !== "HEAD"))
      return refuse(response, 403);
    answer(out, request.url ?? "/", response).catch(() => refuse(response, 500));
  });
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new ProbelabError(
      `Can't serve the schedule on 127.0.0.1:${port}: ${(cause as Error).message}. Take another port with --serve, or 0 for any free one.`,
      { cause },
    );
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(out: string, url: string, response: ServerResponse): Promise<void> {
  let path: string;
  try {
    path = decodeURIComponent(url.split("?")[0] ?? "");
  } catch {
    return refuse(response, 404);
  }
  if (path === "/" || path === "/index.html") {
    const html = schedulePage(await readOverview(out));
    // It keeps itself up to date where it hangs on a wall.
    response.writeHead(200, {
      ...HEADERS,
      "content-type": "text/html; charset=utf-8",
      refresh: "60",
    });
    return void response.end(html);
  }
  const [, place, id, name] = RUN_FILE.exec(path) ?? [];
  const file = place === undefined ? undefined : join(out, place, id!, name!);
  const info = file === undefined ? undefined : await stat(file).catch(() => undefined);
  if (file === undefined || info?.isFile() !== true) return refuse(response, 404);
  const type = file.endsWith(".html") ? "text/html; charset=utf-8" : "application/x-ipynb+json";
  response.writeHead(200, { ...HEADERS, "content-type": type, "content-length": info.size });
  createReadStream(file)
    .on("error", () => response.destroy())
    .pipe(response);
}

const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
};

function refuse(response: ServerResponse, code: number): void {
  const said = {
    403: "Refused.",
    404: "Not here: the schedule is at /.",
    500: "It can't be read.",
  }[code];
  if (!response.headersSent) response.writeHead(code, { ...HEADERS, "content-type": "text/plain" });
  response.end(`${said}\n`);
}
