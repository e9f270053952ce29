import { reportBackgroundErrors } from "./background-errors.js";
import { CellSession } from "./cell-session.js";
import { dieWithParent } from "./die-with-parent.js";
import type { FromWorker, ToWorker } from "./worker-messages.js";

/** The process of one notebook that is run headless: takes cells from the runner, gives it their outputs. */
function main(): void {
  dieWithParent();
  const session = new CellSession();
  const tell = (message: FromWorker) => {
    if (process.connected) process.send?.(message);
  };
  const check = (codes: readonly string[]) => {
    const found = session.check(codes.map((code, index) => ({ name: cellName(index + 1), code })));
    tell({ type: "checked", objection: found && { cell: found.index + 1, error: found.error } });
  };
  const run = async (cell: number, code: string) => {
    const outcome = await session.run(code, cellName(cell), (output) =>
      tell({ type: "output", cell, output }),
    );
    tell({ type: "ended", cell, outcome });
  };
  process.on("message", (message: ToWorker) => {
    if (message.type === "check") check(message.codes);
    if (message.type === "run") void run(message.cell, message.code);
    if (message.type === "interrupt") session.interrupt();
    if (message.type === "end") process.disconnect();
  });
  process.on("disconnect", () => process.exit());
  process.on("SIGINT", () => session.interrupt());
  reportBackgroundErrors();
  tell({ type: "ready" });
}

function cellName(cell: number): string {
  return `cell-${cell}`;
}

main();
