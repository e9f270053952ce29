import { reportBackgroundErrors } from "./background-errors.js";
import { CellSession } from "./cell-session.js";
import { dieWithParent } from "./die-with-parent.js";
import type { FromWorker, NamedCode, ToWorker } from "./worker-messages.js";

/** The process of one notebook that is run headless: takes cells from the runner, gives it their outputs. */
function main(): void {
  dieWithParent();
  const session = new CellSession();
  const tell = (message: FromWorker) => {
    if (process.connected) process.send?.(message);
  };
  const check = (cells: readonly NamedCode[]) => {
    const found = session.check(cells);
    const objections = found.map(({ index, ...rest }) => ({ cell: index + 1, ...rest }));
    tell({ type: "checked", objections });
  };
  const run = async (cell: number, { name, code }: NamedCode) => {
    const outcome = await session.run(code, name, (output) =>
      tell({ type: "output", cell, output }),
    );
    tell({ type: "ended", cell, outcome });
  };
  process.on("message", (message: ToWorker) => {
    if (message.type === "check") check(message.cells);
    if (message.type === "run") void run(message.cell, message.code);
    if (message.type === "interrupt") session.interrupt();
    if (message.type === "end") process.disconnect();
  });
  process.on("disconnect", () => process.exit());
  process.on("SIGINT", () => session.interrupt());
  reportBackgroundErrors();
  tell({ type: "ready" });
}

main();
