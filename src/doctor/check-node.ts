import type { Check } from "./check.js";

/** Node 20.19 is the first that loads ES modules by `require`, which cells need. */
export function checkNode(version = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const name = "Node";
  return major > 20 || (major === 20 && minor >= 19)
    ? { name, state: "ok", found: version }
    : { name, state: "failure", found: version, remedy: "Install Node 20.19 or newer." };
}
