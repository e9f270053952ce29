import { createRequire } from "node:module";
import type * as Zod from "zod";

/** Schemas that are made when they are first used: every kernel would wait for zod at its start. */
export function lazySchemas<Schemas>(make: (zod: typeof Zod) => Schemas): () => Schemas {
  let made: Schemas | undefined;
  return () => (made ??= make(createRequire(import.meta.url)("zod") as typeof Zod));
}
