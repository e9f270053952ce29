// One of Arquero's declarations has a rest parameter that is optional, which is an error for every
// compiler that checks libraries (skipLibCheck: false). TypeScript, unlike Node, finds this mended
// copy first when it reads our declarations. It has the name and version of the original, so that
// where a project imports Arquero too, TypeScript takes both for the same package: one type.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const original = join("node_modules", "arquero");
const copy = join("dist", "node_modules", "@types", "arquero");
const types = join("dist", "types");

cpSync(join(original, types), join(copy, types), { recursive: true });
cpSync(join(original, "LICENSE"), join(copy, "LICENSE"));
const { name, version, license, types: entry } = JSON.parse(read(join(original, "package.json")));
writeFileSync(join(copy, "package.json"), JSON.stringify({ name, version, license, types: entry }));

const faulty = join(copy, types, "table", "ColumnTable.d.ts");
const mended = read(faulty).replace("...values?: ", "...values: ");
if (mended === read(faulty)) {
  throw new Error("Arquero's declarations need no mending any more: leave this script out.");
}
writeFileSync(faulty, mended);

function read(path) {
  return readFileSync(path, "utf8");
}
