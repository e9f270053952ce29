import { createRequire } from "node:module";
import type * as Ffi from "ffi-rs";

/** The system's call that exchanges two paths in one step. */
interface Call {
  readonly library: string;
  readonly name: string;
  readonly parameters: (one: string, other: string) => readonly (string | number)[];
}

// renameat2(2) with AT_FDCWD and RENAME_EXCHANGE; renamex_np(2) with RENAME_SWAP.
const CALLS: Partial<Record<NodeJS.Platform, Call>> = {
  linux: {
    library: "libc.so.6",
    name: "renameat2",
    parameters: (one, other) => [-100, one, -100, other, 2],
  },
  darwin: {
    library: "libSystem.B.dylib",
    name: "renamex_np",
    parameters: (one, other) => [one, other, 2],
  },
};

let opened: typeof Ffi | null | undefined;

/**
 * Exchanges two folders (or files) of one file system in one step: at no moment is either path
 * without one of them. Node has no such call, so the system's own is used, through ffi-rs.
 *
 * @returns false where the system, the file system or the package can't; nothing has changed then.
 */
export function exchange(one: string, other: string): boolean {
  const call = CALLS[process.platform];
  if (call === undefined) return false;
  const ffi = (opened ??= open(call));
  if (ffi === null) return false;
  const parameters = call.parameters(one, other);
  try {
    const result: unknown = ffi.load({
      library: "system",
      funcName: call.name,
      retType: ffi.DataType.I32,
      paramsType: parameters.map((value) =>
        typeof value === "string" ? ffi.DataType.String : ffi.DataType.I32,
      ),
      paramsValue: [...parameters],
    });
    return result === 0;
  } catch {
    return false;
  }
}

function open(call: Call): typeof Ffi | null {
  try {
    const ffi = createRequire(import.meta.url)("ffi-rs") as typeof Ffi;
    ffi.open({ library: "system", path: call.library });
    return ffi;
  } catch {
    return null;
  }
}
