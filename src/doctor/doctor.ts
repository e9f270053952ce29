import type { Check } from "./check.js";
import { checkDatabase } from "./check-database.js";
import { checkFonts } from "./check-fonts.js";
import { checkJupyter } from "./check-jupyter.js";
import { checkKernel } from "./check-kernel.js";
import { checkNode } from "./check-node.js";

/** Looks at all that probelab needs, one after the other. */
export async function* examine(): AsyncGenerator<Check, void, undefined> {
  yield checkNode();
  yield checkKernel();
  yield await checkJupyter();
  yield await checkDatabase();
  yield await checkFonts();
}
