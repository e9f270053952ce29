import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** What writes a postmortem: the same versions write the same bytes. */
export function versions(): Record<string, string> {
  const { version } = require("../../../package.json") as { version: string };
  return { probelab: version, node: process.versions.node };
}
