import type { Writer } from "../database/writer.js";

/** How far the reading of a file has come. */
export interface LoadProgress {
  readonly file: string;
  /** Bytes read of the file as it lies on the disk. */
  readonly bytes: number;
  readonly totalBytes: number;
  readonly rows: number;
}

const EVERY_MS = 500;

/** Tells how far the statement with this `log_comment` has come, twice a second, until disposed. */
export function watchLoad(
  writer: Writer,
  file: { readonly name: string; readonly bytes: number },
  comment: string,
  tell: (progress: LoadProgress) => void,
): Disposable {
  let asked = false;
  const ask = async () => {
    const [seen] = await writer.rows<{ rows: number | string; bytes: number | string }>(
      `SELECT read_rows AS rows, read_bytes AS bytes FROM system.processes
       WHERE Settings['log_comment'] = {comment:String}`,
      { parameters: { comment } },
    );
    if (seen === undefined || done) return;
    const bytes = Math.min(Number(seen.bytes), file.bytes);
    tell({ file: file.name, bytes, totalBytes: file.bytes, rows: Number(seen.rows) });
  };
  let done = false;
  const timer = setInterval(() => {
    if (asked) return;
    asked = true;
    ask()
      // The load itself will say what is wrong with the server.
      .catch(() => undefined)
      .finally(() => (asked = false));
  }, EVERY_MS);
  return {
    [Symbol.dispose]() {
      done = true;
      clearInterval(timer);
    },
  };
}
