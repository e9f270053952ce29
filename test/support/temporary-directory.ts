import { mkdtempSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { DatabaseAddress } from "../../src/database/address.js";

/** A folder for all tests of a file, removed after them. */
export function ownFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "probelab-test-"));
  afterAll(() => rmSync(path, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 }));
  return path;
}

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
