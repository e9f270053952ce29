import type { Check } from "./check.js";
import { checkDatabase } from "./check-database.js";
import { checkTables } from "./check-tables.js";
import { checkFonts } from "./check-fonts.js";
import { checkJupyter } from "./check-jupyter.js";
import { checkKernel } from "./check-kernel.js";
import { checkNode } from "./check-node.js";

/** Looks at all that probelab needs, one after the other. */
export async function* examine(): AsyncGenerator<Check, void, undefined> {
  yield checkNode();
  yield checkKernel();
  yield await checkJupyter();
  const database = await checkDatabase();
  yield database;
  if (database.state !== "failure") yield* checkTables();
  yield await checkFonts();
}
