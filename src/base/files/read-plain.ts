import { constants, open } from "node:fs/promises";

/**
 * Reads a text file of state, which other programs may have damaged.
 *
 * @param longest most bytes that it may have.
 * @returns undefined where there is no such file.
 * @throws Error for a folder, a pipe or a device, reading which may never end, and for a longer file.
 */
export async function readPlain(path: string, longest = 1_000_000): Promise<string | undefined> {
  // O_NONBLOCK, or opening a pipe would wait for its writer.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Error(`it can't be opened (${error.code})`, { cause: error });
  });
  if (file === undefined) return undefined;
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error("it is no file but a folder, a pipe or a device");
    if (found.size > longest) throw new Error(`it is longer than ${longest} bytes`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
