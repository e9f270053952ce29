import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { probelab } from "../support/command.js";
import { ownFolder } from "../support/temporary-directory.js";

/** A name that renames the terminal's window, clears it, begins a line and reads backwards. */
const ODD = "a\u202eb\x1b]0;mine\x07\x1b[2J\nok all is well\x9b2J";
const SPELLED = "a<U+202E>b<U+001B>]0;mine<U+0007><U+001B>[2J";

const folder = ownFolder();
beforeAll(() => writeFileSync(join(folder, `${ODD}.ipynb`), "no notebook"));

it.each<[string, string[], measurements: string]>([
  ["run, of a file that is no notebook", ["run", `${ODD}.ipynb`], "embedded:x"],
  ["run, of a file that isn't there", ["run", `${ODD}-none.ipynb`], "embedded:x"],
  ["doctor", ["doctor"], `embedded:${ODD}`],
  ["drop", ["drop"], `http://127.0.0.1:1/${encodeURIComponent(ODD)}`],
])("names steer no terminal in what is printed by %s", async (_, given, measurements) => {
  const env = { PROBELAB_MEASUREMENTS: measurements };
  const { out, err } = await probelab(given, { cwd: folder, env });
  const said = out + err;
  expect(said).toContain(SPELLED);
  expect(said).not.toMatch(/^ok all is well/m);
  expect(said).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
});
