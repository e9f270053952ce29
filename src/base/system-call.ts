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

/** Of flock(2): LOCK_EX, LOCK_SH and LOCK_UN, all with LOCK_NB. */
const LOCKS = { exclusive: 6, shared: 5, none: 12 };

/**
 * Locks an open file or folder for this process, without waiting. The system takes the lock back
 * when the file is closed or the process killed.
 *
 * @returns false where somebody else holds it.
 */
export function lockFile(descriptor: number, lock: keyof typeof LOCKS = "exclusive"): boolean {
  return systemCall("flock", [descriptor, LOCKS[lock]]) === 0;
}
