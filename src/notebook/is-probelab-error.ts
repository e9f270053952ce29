/** By name: a notebook may hold another copy of probelab than the kernel that runs it. */
export function isProbelabError(error: unknown): error is Error {
  return error instanceof Error && error.name === "ProbelabError";
}
