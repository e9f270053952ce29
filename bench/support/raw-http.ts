import { Agent, request } from "node:http";
import {
  readRecord,
  EMBEDDED_DATABASE,
  TOKEN_HEADER,
} from "../../src/database/embedded/directory.js";

/** Sends SQL to the embedded server over a connection that stays open; the answer's bytes. */
export function rawHttp(
  directory: string,
): (sql: string, parameters: Readonly<Record<string, unknown>>) => Promise<Buffer> {
  const server = readRecord(directory);
  if (server === null) throw new Error(`no server in ${directory}`);
  const agent = new Agent({ keepAlive: true });
  return (sql, parameters) => {
    const url = new URL(`http://127.0.0.1:${server.port}/?database=${EMBEDDED_DATABASE}`);
    for (const [name, value] of Object.entries(parameters)) {
      const text = Array.isArray(value)
        ? `[${value.map((one) => `'${String(one)}'`).join(",")}]`
        : String(value);
      url.searchParams.set(`param_${name}`, text);
    }
    url.searchParams.set("output_format_arrow_compression_method", "none");
    return new Promise((resolve, reject) => {
      const options = { agent, method: "POST", headers: { [TOKEN_HEADER]: server.token } };
      const sent = request(url, options, (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.on("error", reject);
        answer.on("end", () => {
          const body = Buffer.concat(parts);
          if (answer.statusCode === 200) resolve(body);
          else reject(new Error(body.toString("utf8")));
        });
      });
      sent.on("error", reject);
      sent.end(sql);
    });
  };
}
