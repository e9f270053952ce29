import { afterAll, beforeAll } from "vitest";
import { openWriter } from "../../src/database/writer.js";
import type { DatabaseAddress } from "../../src/database/address.js";
import type { Writer } from "../../src/database/writer.js";
import { connect, type Lab } from "../../src/index.js";
import { temporaryDirectory, type TemporaryDirectory } from "./temporary-directory.js";

/** An embedded database, with an engine of its own, for the tests of a file, there before the first and gone after the last. */
export function embeddedDatabase() {
  let directory: TemporaryDirectory;
  let writer: Writer;
  beforeAll(async () => {
    directory = await temporaryDirectory();
    writer = await openWriter(directory.source);
  });
  afterAll(async () => {
    await writer[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });
  return {
    get directory(): TemporaryDirectory {
      return directory;
    },
    get source(): DatabaseAddress {
      return directory.source;
    },
    get writer(): Writer {
      return writer;
    },
    /** A lab on it. */
    open: (): Promise<Lab> => connect({ measurements: `embedded:${directory.path}` }),
  };
}
