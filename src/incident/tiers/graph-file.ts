import { open } from "node:fs/promises";
import { basename, extname } from "node:path";
import { ProbelabError } from "../../base/error.js";
import { shown } from "../shown.js";
import { keyFault } from "./graph-keys.js";

const LARGEST_FILE = 2_000_000;
const MOST_ALIASES = 100;

/** What a graph's file holds, before it is checked. */
export interface GraphFile {
  readonly content: unknown;
  /** The file's name, without its folder. */
  readonly source: string;
  readonly changedAt: Date;
}

/**
 * Reads a YAML 1.2 or JSON file of at most 2 MB.
 *
 * @throws ProbelabError where it can't be read or parsed, with line and column; for keys that stand
 *   twice, or are no text; for a file that grows by its aliases.
 */
export async function readGraphFile(path: string): Promise<GraphFile> {
  const action = `Can't read the component graph ${shown(path, 200)}`;
  if (typeof path !== "string" || !/\.(ya?ml|json)$/i.test(path)) {
    throw new ProbelabError(`${action}: pass the path of a .yaml, .yml or .json file.`);
  }
  const { text, changedAt } = await readText(path, action);
  // JSON is YAML 1.2, and this reader tells a key that stands twice, which JSON.parse drops.
  const yaml = await import("yaml");
  try {
    const document = yaml.parseDocument(text, { version: "1.2", schema: "core", uniqueKeys: true });
    const [fault] = document.errors;
    if (fault !== undefined) throw fault;
    const key = keyFault(yaml, document, text);
    if (key !== undefined) throw new ProbelabError(`${action}: ${key}.`);
    const content: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
    return { content, source: basename(path), changedAt };
  } catch (error) {
    if (error instanceof ProbelabError) throw error;
    const told = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    const said = error instanceof RangeError ? "it is nested too deeply" : told.replace(/:$/, "");
    const kind = extname(path).toLowerCase() === ".json" ? "JSON" : "YAML";
    throw new ProbelabError(
      `${action}: it is no ${kind} (${shown(said, 200).slice(1, -1)}). Correct that place.`,
      { cause: error },
    );
  }
}

async function readText(path: string, action: string): Promise<{ text: string; changedAt: Date }> {
  try {
    const file = await open(path, "r");
    try {
      const { size, mtime } = await file.stat();
      if (size > LARGEST_FILE) {
        throw new ProbelabError(
          `${action}: it has ${size.toLocaleString("en-US")} bytes, more than ${LARGEST_FILE.toLocaleString("en-US")}; pass a file of components only.`,
        );
      }
      // Not readFile: what has no size (a pipe, a device) could be endless.
      const buffer = Buffer.alloc(LARGEST_FILE + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await file.read(buffer, length, buffer.length - length, null);
        length += bytesRead;
        if (bytesRead === 0) break;
        if (length > LARGEST_FILE) {
          throw new ProbelabError(
            `${action}: it has more than ${LARGEST_FILE.toLocaleString("en-US")} bytes; pass a file of components only.`,
          );
        }
      }
      const text = new TextDecoder("utf-8", { fatal: true }).decode(buffer.subarray(0, length));
      return { text, changedAt: mtime };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof ProbelabError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    const said =
      code === "ENOENT"
        ? "there is no such file; check the path"
        : code === "ERR_ENCODING_INVALID_ENCODED_DATA"
          ? "it is not in UTF-8; save it so"
          : `${code}; check the path and its permissions`;
    throw new ProbelabError(`${action}: ${said}.`, { cause: error });
  }
}
