import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import type * as Yaml from "yaml";
import { ProbelabError } from "../../base/error.js";
import { shownValue } from "../../base/text.js";

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
  const action = `Can't read the component graph ${shownValue(path, 200)}`;
  const kind = typeof path === "string" ? /\.(ya?ml|json)$/i.exec(path)?.[1] : undefined;
  if (kind === undefined) {
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
    const [first = ""] = (error as Error).message.split("\n");
    const said = error instanceof RangeError ? "it is nested too deeply" : first.replace(/:$/, "");
    throw new ProbelabError(
      `${action}: it is no ${/json/i.test(kind) ? "JSON" : "YAML"} (${shownValue(said, 200).slice(1, -1)}). Correct that place.`,
      { cause: error },
    );
  }
}

async function readText(path: string, action: string): Promise<{ text: string; changedAt: Date }> {
  const failed = (said: string, cause?: unknown) =>
    new ProbelabError(`${action}: ${said}.`, { cause });
  try {
    const file = await stat(path);
    // A pipe or a device could be endless.
    if (!file.isFile()) throw failed("it is no file; check the path");
    if (file.size > LARGEST_FILE) {
      throw failed(
        `it has ${file.size.toLocaleString("en-US")} bytes, more than ${LARGEST_FILE.toLocaleString("en-US")}; pass a file of components only`,
      );
    }
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
    return { text, changedAt: file.mtime };
  } catch (error) {
    if (error instanceof ProbelabError) throw error;
    if (error instanceof TypeError) throw failed("it is not in UTF-8; save it so", error);
    const { code } = error as NodeJS.ErrnoException;
    throw code === "ENOENT"
      ? failed("there is no such file; check the path", error)
      : failed(`${code}; check the path and its permissions`, error);
  }
}

/** The first key that is no text: it would become another name in silence, as `1.10` becomes "1.1". */
function keyFault(yaml: typeof Yaml, document: Yaml.Document, text: string): string | undefined {
  let fault: string | undefined;
  yaml.visit(document, {
    Pair(_, { key: written }) {
      const key = yaml.isAlias(written) ? written.resolve(document) : written;
      if (yaml.isScalar(key) && typeof key.value === "string") return undefined;
      const [start = 0, end = 0] = (yaml.isNode(written) ? written.range : undefined) ?? [];
      const source = text.slice(start, end);
      const at = `at line ${text.slice(0, start).split(/\r\n|[\r\n]/).length}`;
      const name = shownValue(source);
      fault = !yaml.isScalar(key)
        ? `the key ${at} is a list or a map; write a name`
        : source.trim() === ""
          ? `the key ${at} is empty; write a name`
          : `the key ${name.slice(1, -1)} ${at} is no text (it is read as ${shownValue(key.value)}); write it in quotes, ${name}`;
      return yaml.visit.BREAK;
    },
  });
  return fault;
}
