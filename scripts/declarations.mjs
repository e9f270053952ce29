// Rolls the declarations up, ours and Arquero's, into one file each: a cell that imports probelab
// would read some 170 of them, which takes 0.3 s.
//
// One of Arquero's declarations has a rest parameter that is optional, which is an error for every
// compiler that checks libraries (skipLibCheck: false). TypeScript, unlike Node, finds this mended
// copy first when it reads our declarations. It has the name and version of the original, so that
// where a project imports Arquero too, TypeScript takes both for the same package: one type.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

const compiled = join("dist", ".types");
const original = join("node_modules", "arquero");
const copy = join("dist", "node_modules", "@types", "arquero");

await rollUp(join(compiled, "index.d.ts"), join("dist", "index.d.ts"), false);
// The kernel gives it to cells that import tslab.
cpSync(join(compiled, "notebook", "tslab.d.ts"), join("dist", "notebook", "tslab.d.ts"));

rmSync(copy, { recursive: true, force: true });
const { name, version, license, types } = JSON.parse(read(join(original, "package.json")));
await rollUp(join(original, types), join(copy, types), true);
const mended = read(join(copy, types)).replace("...values?: ", "...values: ");
if (mended === read(join(copy, types))) {
  throw new Error("Arquero's declarations need no mending any more: leave that out.");
}
writeFileSync(join(copy, types), mended);
cpSync(join(original, "LICENSE"), join(copy, "LICENSE"));
writeFileSync(join(copy, "package.json"), JSON.stringify({ name, version, license, types }));

/** @param respectExternal true takes in the declarations of other packages as well */
async function rollUp(input, file, respectExternal) {
  const external = (id) => !respectExternal && !/^[./]/.test(id);
  const bundle = await rollup({ input, external, plugins: [dts({ respectExternal })] });
  mkdirSync(dirname(file), { recursive: true });
  await bundle.write({ file, format: "es" });
  await bundle.close();
}

function read(path) {
  return readFileSync(path, "utf8");
}
