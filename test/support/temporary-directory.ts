import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseAddress } from "../../src/database/address.js";

/** An embedded database's directory of its own, removed with what is in it. */
export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
  readonly source: DatabaseAddress;
}

export async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), "probelab-test-"));
  return {
    path,
    source: { kind: "embedded", directory: path, label: "embedded:test" },
    async [Symbol.asyncDispose]() {
      // The server writes until it notices that its last user has gone.
      await rm(path, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 });
    },
  };
}
