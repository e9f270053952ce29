import { createRequire } from "node:module";
import type * as Ffi from "ffi-rs";

const LIBRARIES: Partial<Record<NodeJS.Platform, string>> = {
  linux: "libc.so.6",
  darwin: "libSystem.B.dylib",
};

let opened: typeof Ffi | null | undefined;

/**
 * Calls a function of the system's C library, for what Node has no function of its own, through the
 * package that starts the engine. The package is loaded with the first call.
 *
 * @returns its result, a C int; undefined where the system or the package can't.
 * @example
 * systemCall("flock", [file, 6]) === 0; // locked
 */
export function systemCall(name: string, values: readonly (string | number)[]): number | undefined {
  const ffi = (opened ??= openLibrary());
  if (ffi === null) return undefined;
  try {
    const result: unknown = ffi.load({
      library: "system",
      funcName: name,
      retType: ffi.DataType.I32,
      paramsType: values.map((value) =>
        typeof value === "string" ? ffi.DataType.String : ffi.DataType.I32,
      ),
      paramsValue: [...values],
    });
    return Number(result);
  } catch {
    return undefined;
  }
}

function openLibrary(): typeof Ffi | null {
  const library = LIBRARIES[process.platform];
  if (library === undefined) return null;
  try {
    const ffi = createRequire(import.meta.url)("ffi-rs") as typeof Ffi;
    ffi.open({ library: "system", path: library });
    return ffi;
  } catch {
    return null;
  }
}

/** flock(2): LOCK_EX | LOCK_NB. */
const EXCLUSIVE_AT_ONCE = 6;

/**
 * Locks an open file or folder for this process: the lock goes when the file is closed, also where
 * the process is killed. False where somebody else holds it.
 */
export function lockFile(descriptor: number): boolean {
  return systemCall("flock", [descriptor, EXCLUSIVE_AT_ONCE]) === 0;
}
