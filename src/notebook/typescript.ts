import { createRequire } from "node:module";
import type TypeScript from "typescript";

/** TypeScript. Required, because at an import Node would search its 9 MB for names of exports, for a second. */
export const ts = createRequire(import.meta.url)("typescript") as typeof TypeScript;
