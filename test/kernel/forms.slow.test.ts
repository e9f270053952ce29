import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { notebookFolder, runCells } from "./notebook-fixture.js";

let folder: Awaited<ReturnType<typeof notebookFolder>>;
beforeAll(async () => {
  folder = await notebookFolder();
});
afterAll(() => folder.remove());

const files = {
  "helper.ts": `import { sep } from "node:path"; export const base = 2; export let live = 1; export function bump() { live++; } export default class Thing { constructor(public name: string, private readonly n = base) {} get twice() { return this.n * 2; } }\nexport { sep as separator }; export * from "./other"; export type Only = { a: number }; export enum Size { S = 1, L } export namespace Inner { export const deep = base + 1; }\nexport const fn = async (xs: number[]) => { let s = 0; for (const x of xs) s += await x; return s; }; export * as ns from "./other";`,
  "other.ts": `export const other: string = "o"; const hidden = 1; export { hidden as shown };`,
  "common.js": `const path = require("node:path"); module.exports = { joined: path.join("a", "b"), n: 3 };`,
  "d.json": `{"k": [1, 2]}`,
};

/** Fails where two values differ. */
const is = `function is(a: unknown, b: unknown) { const [x, y] = [JSON.stringify(a), JSON.stringify(b)]; if (x !== y) throw new Error(x + " is not " + y); }`;

/** Cells that check themselves: each form of declaring, naming and changing, within a cell and across cells. */
const cells = [
  is,
  `let a = 1, b = 2; const c = { x: 1, y: { z: [3, 4] } }; var v = "v"; const f = (n: number) => n * 2; function tag(s: TemplateStringsArray, ...n: unknown[]) { return s.join("|") + n.join(); }\nclass Base { protected n = 1; static s = 2; #p = 7; get p() { return this.#p; } }\nconst { x: cx, y: { z: [, z1 = 9] }, ...others } = { ...c, w: 5 }; const [h, ...t] = [1, 2, 3];`,
  `[a, b] = [b, a]; is([a, b], [2, 1]);`,
  `({ x: a } = c); is(a, 1);`,
  `({ a = 5, b } = { b: 8 } as any); is([a, b], [5, 8]);`,
  `a++; ++a; a += 10; a **= 1; is(a, 17); [a] = [1];`,
  `for (a of [4, 5, 6]); is(a, 6); for (v in { q: 1 }); is(v, "q"); for (const a of [1]) void a; is(a, 6); for await (a of [7, Promise.resolve(8)]); is(a, 8)`,
  `is(tag\`x\${a}y\${f(b)}\`, "x|y|8,16"); is(f?.(4), 8); is([1, 2].map(f), [2, 4]); is(typeof (globalThis as any).nothing, "undefined");`,
  `class Derived extends Base { static extra: number; static { Derived.extra = a; } total(n = a) { return n + this.n + Base.s; } [\`m\${b}\`]() { return a; } accessor = 3; }\nis([new Derived().total(), Derived.extra, (new Derived() as any).m8(), new Derived().p], [11, 8, 8, 7]);`,
  `const short = { a, b, f, get v() { return v; }, async *gen() { yield a; yield* [b]; }, [v]: 1, 5: a, "q-r": b, a2: { a } };\nis([short.a, short.b, short.v, short.q, short["5"], short.a2.a], [8, 8, "q", 1, 8, 8]); const got: number[] = []; for await (const g of short.gen()) got.push(g); is(got, [8, 8]);`,
  `function shadow(a: number, { b = a, f: { g } = { g: a } }: any = {}, ...v: number[]) { var c = a; { let a = 5; c += a; } try { throw 3; } catch (b) { c += b as number; } function f() { return c; } return [f(), b, g, v.length]; }\nis(shadow(1, {}, 1, 2), [9, 1, 1, 2]); is(((x = a, y = x + b) => x + y)(), 24); const e = function a(n: number): number { return n ? a(n - 1) : 0; }; is(e(3), 0); is((() => { if (true) { var b = 3; } return b; })(), 3); is(a, 8);`,
  `a: for (let i = 0; ; i++) { b: for (;;) { if (i > 2) break a; continue a; } } let w = 0; while (w < 5) w++; do w--; while (w > 0); for (let i = 0; i < 3; i++) if (i === 1) continue; else w += i; is(w, 2); for (const x of [1, 2]) for (const y of [x]) w += y; is(w, 5);`,
  `import Thing, { base, live, bump, separator, other, shown, Size, Inner, fn, ns, type Only } from "./helper"; import * as helper from "./helper"; import common, { joined } from "./common.js"; import data from "./d.json"; import fs, { existsSync as exists } from "node:fs"; import path = require("node:path");\nbump(); is([live, helper.live, base, separator, other, shown, Size.L, Size[1], Inner.deep, ns.other], [2, 2, 2, "/", "o", 1, 2, "S", 3, "o"]); is([new Thing("n").twice, new Thing("n").name, await fn([1, 2]), common.n, joined, data.k, exists("helper.ts"), fs === (await import("node:fs")).default, path.sep], [4, "n", 3, 3, "a/b", [1, 2], true, true, "/"]); const o: Only = { a: 1 }; is(helper.default === Thing, true);`,
  `bump(); is([live, helper.live, new Thing("z").name], [3, 3, "z"]);  const { live: liveNow } = await import("./helper"); is(liveNow, 3);`,
  `enum Color { Red = 3, Blue = Red + 1, Dyn = "x".length } const enum Fast { A = 1 } namespace N { export const q = Color.Blue + a; export namespace M { export function r() { return q; } } } abstract class Shape { constructor(readonly side: number, public k = side) {} abstract area(): number; over(x: string): string; over(x: number): number; over(x: any) { return x; } }\nclass Sq extends Shape { area() { return this.side ** 2; } } declare const notThere: number; interface I { a: number } type T2 = keyof I; is([Color.Blue, Color[3], Color.Dyn, Fast.A, N.q, N.M.r(), new Sq(3).area(), new Sq(2).k, new Sq(1).over(5)], [4, "Red", 1, 1, 12, 12, 9, 2, 5]);`,
  `is([Color.Red, N.q, new Sq(4).area()], [3, 12, 16]); const ii: I = { a: 1 }; const k: T2 = "a"; const gen = <X,>(x: X) => x; is([gen<number>(1), (a as number)!, <number>b, k satisfies string], [1, 8, 8, "a"]);`,
  `function log(target: any, name?: any, d?: any) { (log as any).seen = ((log as any).seen ?? 0) + 1; return d; } @log class Dec { @log m() { return a; } @log static s = 1; } is([(log as any).seen, new Dec().m()], [3, 8]);`,
  `const closed: string[] = []; const res = (n: string) => ({ n, [Symbol.dispose]() { closed.push(n); }, async [Symbol.asyncDispose]() { closed.push("async " + n); } });`,
  `using r1 = res("1"); await using r2 = res("2"); { using r3 = res("3"); } is(closed, ["3"]); is(r1.n + r2.n, "12");`,
  `is(closed, ["3", "async 2", "1"]); class Both { } using again = res("4"); is([again.n, new Both()], ["4", {}]);`,
  `is(closed.at(-1), "4"); for (using u of [res("5"), res("6")]) void u; is(closed.slice(-2), ["5", "6"]);`,
  `const s = "😀 await a"; const ω = a; const été = await Promise.resolve(ω + 1); is([s.length, été], [10, 9]); /* a b */ const re = /a{1,2}[/]b/g; is("aa/b".match(re)?.length, 1); \`\${\`\${a}\`}\`;`,
  `ω + été // a comment`,
  `// only a comment`,
  ``,
  `/* c */ a; // x\n`,
  `({ k: a })`,
  `a = 9`,
  `await Promise.resolve("last")`,
  `"use strict"`,
  `(function () { return 4; })()`,
  `[1, 2].map((n) => n + a)`,
  `if (a) { 5 }`,
  `const last1 = 1\nlast1\n;`,
  `f(1), f(2)`,
  `import * as aq from "arquero"; const rows = aq.table({ a: [1, 2], b: [2, 4] }); is(rows.derive({ r: (d: any) => d.a / d.b, s: function (d: any) { return d.a + d.b; } }).objects(), [{ a: 1, b: 2, r: 0.5, s: 3 }, { a: 2, b: 4, r: 0.5, s: 6 }]); is(rows.rollup({ sum: (d: any) => aq.op.sum(d.a) }).objects(), [{ sum: 3 }]); is(String({ r: (d: number) => d / 2 }.r), "(d) => d / 2"); const ratio = (d: any) => d.a / d.b; function sum(d: any) { return d.a + d.b; } is(rows.derive({ r: ratio, s: sum }).objects(), [{ a: 1, b: 2, r: 0.5, s: 3 }, { a: 2, b: 4, r: 0.5, s: 6 }]);`,
  `class Told { async m(n: number) { for (const x of [n]) await f(x + a); } } async function told(n: number) { await f(n); } const selfCalls = async (n: number): Promise<number> => n && selfCalls(await f(a));\nis([told, selfCalls, Told.prototype.m, Told, Math.max].map((each) => String(each).replace(/\\s+/g, " ")), ["async function told(n) { await f(n); }", "async (n) => n && selfCalls(await f(a))", "async m(n) { for (const x of [n]) await f(x + a); }", "class Told { async m(n) { for (const x of [n]) await f(x + a); } }", "function max() { [native code] }"]);`,
  `const then = 1, constructor = 2, toString = 3, hasOwnProperty = 4, $ = 5, $m0 = 6, $given = 7, name = "n", module = 8, $require = 9, $using = 10, $default = 11, exports = 13, __proto__ = 12;`,
  `is([then, constructor, toString, hasOwnProperty, $, $m0, $given, name, module, $require, $using, $default, __proto__, exports], [1, 2, 3, 4, 5, 6, 7, "n", 8, 9, 10, 11, 12, 13]);`,
  `import { join } from "node:path"; using z = res("z"); is([join("a", "b"), $m0, $given, $require], ["a/b", 6, 7, 9]);`,
  `const process2 = process.pid; { const process = { pid: 5 }; is(process.pid, 5); } const exports1 = typeof exports; const fetch = 3;`,
  `is(fetch, 3); is(typeof process.pid, "number"); is(hoisted(), undefined); function hoisted() { return later1; } var later1 = 3;`,
  `let counter = 0; const inc = () => ++counter; setTimeout(() => { counter += 100; }, 1); await new Promise((r) => setTimeout(r, 20)); is(inc(), 101);`,
  `counter = 5; is(inc(), 6); is(counter, 6); export const exported = 1; export default 5; export { exported as ex2 }; export function ef() { return exported; }`,
  `is([exported, ef()], [1, 1]); let undef: number | undefined; undef ??= 4; undef ||= 5; undef &&= 6; is(undef, 6);`,
  `label: { if (a) break label; } switch (a) { case 9: { let a = 1; is(a, 1); break; } default: throw 1; } switch (b) { case 1: let q = 1; default: const b = 3; is(b, 3); }`,
  `is(await Promise.all([1, 2].map(async (n) => { for (const x of [n]) await null; return n; })), [1, 2]); async function* ag() { yield 1; yield await Promise.resolve(2); } const all: number[] = []; for await (const x of ag()) all.push(x); is(all, [1, 2]);`,
  `class Fld { x = a; static y = b; z = () => this.x; #q = a; has(o: object) { return #q in o; } get [f.name]() { return 1; } declare d: number; accessor acc = 4; } is([new Fld().x, Fld.y, new Fld().z(), new Fld().has(new Fld()), (new Fld() as any).f, new Fld().acc], [9, 8, 9, true, 1, 4]);`,
  `var dup = 1; var dup = 2; is(dup, 2); is([..."ab"].length, 2); is(new (class { n = a; })().n, 9); is(new Date(0).getTime(), 0); is(delete (c as any).x, true); is("y" in c, true); is(void 0, undefined);`,
  `const big = 10n ** 2n; is(String(big), "100"); const o2 = { ...c, ...{ a } }; is(o2.a, 9); is((a satisfies number) + (b as any), 17); const opt = (c as any)?.y?.z?.[0]; is(opt, 3); is(((a)), 9); is(!a, false); is(-a, -9); is(a ? b : 0, 8); is(\`\${a}\`, "9"); is(a > b, true); is(a < b || a << 1, 18);`,
  `try { (() => { throw new Error("x"); })(); } catch { } finally { a = 1; } is(a, 1); const {a: renamed, ...restOf} = {a, b}; is(renamed + restOf.b, 9); function dflt({ a } = { a: b }) { return a; } is(dflt(), 8); const fe = function () { return a; }; is(fe(), 1); const obj = { a() { return a; }, get b() { return b; }, set b(v) { a = v; } }; obj.b = 3; is(obj.a(), 3);`,
];

test("cells and files of every form of the language run as they are written", async () => {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
  for (const end of ["\n", "\r\n"]) {
    const texts = cells.map((cell) => cell.replaceAll("\n", end));
    const { outcome, outputs } = await runCells(folder.path, texts);
    expect(outcome.message).toBeUndefined();
    expect(outcome.cells).toBe(cells.filter((cell) => cell.trim() !== "").length);
    const results = outputs.flat().filter((text) => text.startsWith("result: "));
    expect(results).toEqual([
      "result: [ 1 ]",
      "result: '8'",
      "result: 17",
      "result: 8",
      "result: { k: 8 }",
      "result: 9",
      "result: 'last'",
      "result: 'use strict'",
      "result: 4",
      "result: [ 10, 11 ]",
      "result: 1",
      "result: 4",
    ]);
  }
});
