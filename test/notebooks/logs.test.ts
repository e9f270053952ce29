import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sampleLab } from "./sample-lab.js";

const FAULT = "accepted-reports-not-stored";

let lab: Awaited<ReturnType<typeof sampleLab>>;
beforeAll(async () => {
  lab = await sampleLab(1_000_000);
});
afterAll(() => lab[Symbol.asyncDispose]());

it("logs.ipynb finds the planted burst: the program, its beginning, how long it lasts", async () => {
  const { begins, changes } = await lab.truth(FAULT);
  const [, program = "", perMinute = "", minutes = ""] =
    /^(\w+) logs (\d+) errors a minute for (\d+) minutes/.exec(changes) ?? [];
  const texts = await lab.run("logs");
  const finding = texts.find((text) => text.includes("messages in")) ?? "";
  const found = /(\w[\w-]*): (\d+) messages in (\d+) minutes from (\S+) on.*most say "(.*)"/.exec(
    finding,
  );
  expect(found?.[1], finding).toBe(program);
  expect(Number(found?.[3])).toBeGreaterThanOrEqual(Number(minutes));
  expect(Number(found?.[3])).toBeLessThanOrEqual(Number(minutes) + 1);
  expect(Number(found?.[2])).toBeGreaterThanOrEqual(Number(perMinute) * Number(minutes));
  expect(Number(found?.[2])).toBeLessThan(Number(perMinute) * Number(minutes) * 1.1);
  expect(Math.abs(Date.parse(found?.[4] ?? "") - begins)).toBeLessThanOrEqual(60_000);
  expect(found?.[5]).toBe("cannot write <n> measurements: too many parts (<n>)");
  expect(texts.join("\n")).not.toMatch(/\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/);
}, 300_000);

it("incoming-measurements.ipynb finds the reports that were accepted and are not stored", async () => {
  const { begins, changes } = await lab.truth(FAULT);
  const [, minutes = "", lost = ""] =
    /for (\d+) minutes; (\d+) reports accepted and not stored/.exec(changes) ?? [];
  const texts = await lab.run("incoming-measurements");
  const finding = texts.find((text) => text.includes("accepted reports")) ?? "";
  const found =
    /(\d+) of (\d+) accepted reports are not stored, submitted from (\S+) to (\S+); (\d+) are/.exec(
      finding,
    );
  expect(found?.[1], finding).toBe(lost);
  expect(Number(found?.[2])).toBeGreaterThan(500);
  expect(Date.parse(found?.[3] ?? "")).toBeGreaterThanOrEqual(begins);
  expect(Date.parse(found?.[4] ?? "")).toBeLessThan(begins + (Number(minutes) + 1) * 60_000);
  expect(found?.[5]).toBe("0");
}, 300_000);

it.each(["logs", "incoming-measurements"])("%s.ipynb is committed without outputs", async (name) => {
  const text = await readFile(new URL(`../../notebooks/${name}.ipynb`, import.meta.url), "utf8");
  const { cells } = JSON.parse(text) as {
    cells: { cell_type: string; outputs?: unknown[]; execution_count?: unknown }[];
  };
  for (const cell of cells.filter((one) => one.cell_type === "code")) {
    expect(cell.outputs).toEqual([]);
    expect(cell.execution_count).toBeNull();
  }
});
