import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { ProbelabError } from "../base/error.js";
import { shownValue } from "../base/text.js";

const LARGEST_FILE = 2_000_000;
const MOST_ALIASES = 100;

/**
 * The content, name and age of a YAML 1.2 or JSON file of at most 2 MB.
 *
 * @throws ProbelabError where it can't be read or parsed, with line and column; for a key that
 *   stands twice, or is a list or a map; for a file that grows by its aliases.
 */
export async function readGraphFile(path: string) {
  const action = `Can't read the component graph ${shownValue(path, 200)}`;
  const kind = typeof path === "string" ? /\.(ya?ml|json)$/i.exec(path)?.[1] : undefined;
  if (kind === undefined) {
    throw new ProbelabError(`${action}: pass the path of a .yaml, .yml or .json file.`);
  }
  const { text, changedAt } = await readText(path, action);
  // JSON is YAML 1.2, and this reader tells a key that stands twice, which JSON.parse drops.
  const { parseDocument } = await import("yaml");
  try {
    // A key is a name as it is written: 1.10 is no number that would become 1.1.
    const document = parseDocument(text, { version: "1.2", schema: "core", stringKeys: true });
    const [fault] = document.errors;
    if (fault !== undefined) throw fault;
    const content: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
    return { content, source: basename(path), changedAt };
  } catch (error) {
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
