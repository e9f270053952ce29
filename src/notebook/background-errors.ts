import { inspect } from "node:util";

/**
 * Shows errors that no cell waits for, and the warnings of probelab (fonts that a picture lacks), in
 * the cell they come from, and keeps the process.
 */
export function reportBackgroundErrors(): void {
  process.on("unhandledRejection", (reason) => {
    process.stderr.write(`Unhandled rejection (is an await missing?): ${inspect(reason)}\n`);
  });
  process.on("uncaughtException", (error) => {
    process.stderr.write(`Uncaught error in the background: ${inspect(error)}\n`);
  });
  // Node would write them past the cell, into a log that nobody reads.
  const others = process.listeners("warning");
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    if (warning.name === "ProbelabWarning") process.stderr.write(`${warning.message}\n`);
    else for (const listener of others) listener(warning);
  });
}
