import { inspect } from "node:util";

/** Shows errors that no cell waits for in the cell they come from, and keeps the process. */
export function reportBackgroundErrors(): void {
  process.on("unhandledRejection", (reason) => {
    process.stderr.write(`Unhandled rejection (is an await missing?): ${inspect(reason)}\n`);
  });
  process.on("uncaughtException", (error) => {
    process.stderr.write(`Uncaught error in the background: ${inspect(error)}\n`);
  });
}
