import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { ProbelabError } from "../base/error.js";
import { shownValue } from "./check-options.js";

/**
 * Where to save something: a path, or a file: URL as `new URL("out/a.svg", import.meta.url)` gives
 * it.
 *
 * @param what `chart` or `page`.
 * @throws ProbelabError for anything else, and for another extension than those.
 */
export function savePath(
  target: unknown,
  what: string,
  extensions: readonly string[],
): { path: string; extension: string } {
  const path = target instanceof URL && target.protocol === "file:" ? fileUrl(target) : target;
  if (typeof path !== "string") {
    throw new ProbelabError(
      `Can't save a ${what} as ${path instanceof URL ? JSON.stringify(path.href) : shownValue(path)}: pass a path, ${what}.save("out/${what}${extensions[0]}").`,
    );
  }
  const extension = extname(path).toLowerCase();
  if (!extensions.includes(extension)) {
    throw new ProbelabError(
      `Can't save a ${what} as ${JSON.stringify(path)}: end the path with ${extensions.join(", ")}.`,
    );
  }
  return { path, extension };
}

function fileUrl(url: URL): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    throw new ProbelabError(
      `Can't save a file as ${JSON.stringify(url.href)}: pass a URL of this machine, such as new URL("out/chart.svg", import.meta.url).`,
      { cause: error },
    );
  }
}
