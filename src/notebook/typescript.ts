import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import type TypeScript from "typescript";
import { readCache, stampOf, writeCache } from "./user-cache.js";

/**
 * TypeScript, with what V8 compiled of its 9 MB the last time: else a process that runs cells is busy with
 * that for a third of a second. V8 refuses what another version of it made; then TypeScript is compiled anew.
 * (`module.enableCompileCache` does so from Node 22.8 on.)
 */
export const ts = loadTypeScript();

function loadTypeScript(): typeof TypeScript {
  const path = createRequire(import.meta.url).resolve("typescript");
  // Of the text, V8 compares the length alone.
  const stamp = stampOf(path)?.replace(/\W/g, "-");
  const cache = `whole-typescript-${stamp}-${process.arch}-${process.version}`;
  const parameters = "exports, require, module, __filename, __dirname";
  const script = new Script(`(function (${parameters}) { ${readFileSync(path, "utf8")}\n})`, {
    filename: path,
    cachedData: readCache(cache),
  });
  const module = { exports: {} };
  const run = script.runInThisContext() as (...given: unknown[]) => void;
  run(module.exports, createRequire(path), module, path, dirname(path));
  if (script.cachedDataRejected !== false) {
    // At the end, most of what is used is compiled; by then V8 would have dropped what only the start needs.
    setFlagsFromString("--no-flush-bytecode");
    process.once("exit", () => {
      setFlagsFromString("--flush-bytecode"); // V8 takes no data of a process with other flags.
      writeCache(cache, () => script.createCachedData());
    });
  }
  return module.exports as typeof TypeScript;
}
