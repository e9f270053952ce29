// One of Arquero's declarations has a rest parameter that is optional, which is an error for every
// compiler that checks libraries (skipLibCheck: false). TypeScript, unlike Node, finds this mended
// copy first when it reads our declarations. It has the name and version of the original, so that
// where a project imports Arquero too, TypeScript takes both for the same package: one type.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const original = join("node_modules", "arquero");
const copy = join("dist", "node_modules", "@types", "arquero");
const { name, version, license, types } = JSON.parse(read(join(original, "package.json")));

rmSync(copy, { recursive: true, force: true });
for (const part of [dirname(types), "LICENSE"]) {
  cpSync(join(original, part), join(copy, part), { recursive: true });
}
writeFileSync(
  join(copy, "package.json"),
  JSON.stringify({ name, version, license, type: "module", types }),
);
const wrong = join(copy, dirname(types), "table", "ColumnTable.d.ts");
const mended = read(wrong).replace("...values?: ", "...values: ");
if (mended === read(wrong)) {
  throw new Error("Arquero's declarations need no mending any more: leave that out.");
}
writeFileSync(wrong, mended);

function read(path) {
  return readFileSync(path, "utf8");
}
