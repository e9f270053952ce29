import { createRequire } from "node:module";
import type { MimeBundle } from "../base/mime-bundle.js";
import { isRich, mimeBundle } from "./mime-bundle.js";
import type { TslabDisplay } from "./tslab-parts.js";

/** Shows a bundle where the notebook runs on tslab's own kernel. @returns false where it doesn't */
export function stockDisplay(bundle: MimeBundle): boolean {
  const write = stockWriter();
  if (!write) return false;
  write({ data: bundle.data, metadata: bundle.metadata, transient: {} }, false);
  return true;
}

/**
 * In tslab's own kernel, which prints the last expression of a cell as text, shows a chart or a Result as
 * what it is: from the cell on that follows the import of probelab. Elsewhere it does nothing.
 */
export function showLastInStock(): void {
  const stock = (globalThis as { __tslab__?: { exports: object } }).__tslab__;
  if (!stock || "__probelab__" in globalThis || !stockWriter()) return;
  stock.exports = new Proxy(stock.exports, {
    set(target, name, value: unknown) {
      if (!/^tsLastExpr\d*$/.test(String(name)) || !isRich(value)) {
        return Reflect.set(target, name, value);
      }
      // Taken when the cell runs: when the picture is ready, the next cell may have begun.
      const write = stockWriter();
      mimeBundle(value).then(
        ({ data, metadata }) => write?.({ data, metadata, transient: {} }, false),
        (error: unknown) => console.error(error),
      );
      return true;
    },
  });
}

function stockWriter(): TslabDisplay | undefined {
  const cache = createRequire(import.meta.url).cache;
  const path = Object.keys(cache).find((file) => /[\\/]tslab[\\/]dist[\\/]jupyter\.js$/.test(file));
  const part = path ? (cache[path]?.exports as { lastWriteDisplayData?: TslabDisplay }) : undefined;
  return part?.lastWriteDisplayData ?? undefined;
}
