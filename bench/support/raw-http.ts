import { execFile } from "node:child_process";
import {
  readRecord,
  EMBEDDED_DATABASE,
  TOKEN_HEADER,
} from "../../src/database/embedded/directory.js";

/** Sends SQL to the embedded server with curl, as one would by hand; the answer's bytes. */
export async function curl(
  directory: string,
  sql: string,
  parameters: Readonly<Record<string, unknown>>,
): Promise<Buffer> {
  const server = await readRecord(directory);
  if (server === null) throw new Error(`no server in ${directory}`);
  const url = new URL(`http://127.0.0.1:${server.httpPort}/?database=${EMBEDDED_DATABASE}`);
  for (const [name, value] of Object.entries(parameters)) {
    url.searchParams.set(`param_${name}`, String(value));
  }
  url.searchParams.set("output_format_arrow_compression_method", "none");
  const header = `${TOKEN_HEADER}: ${server.token}`;
  const args = [
    "--silent",
    "--fail-with-body",
    "--header",
    header,
    "--data-binary",
    "@-",
    url.href,
  ];
  return new Promise((resolve, reject) => {
    const options = { encoding: "buffer", maxBuffer: 2 ** 30 } as const;
    const child = execFile("curl", args, options, (error, stdout) => {
      if (error) reject(new Error(`${error.message} ${stdout.toString("utf8")}`));
      else resolve(stdout);
    });
    child.stdin?.end(sql);
  });
}
