import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { chart } from "../../src/index.js";
import { originRecord } from "../../src/render/origin.js";
import { titleText } from "../../src/render/svg.js";
import { typeset } from "../../src/render/pdf.js";
import { pdfObjects, pdfString, type PdfObject } from "../chart/support/pdf-objects.js";
import { PAYLOADS } from "../chart/support/payloads.js";
import { pdfText, popplerMissing, popplerNote } from "../chart/support/poppler.js";
import { makeResult, weeklyCounts } from "../chart/support/sample-results.js";

const drawn = chart.area(weeklyCounts(), { width: 300, height: 100 });
const saved = drawn.pdf();
const rejections: unknown[] = [];
const listener = (reason: unknown): void => void rejections.push(reason);
const requests = vi.spyOn(globalThis, "fetch");

beforeAll(() => {
  process.on("unhandledRejection", listener);
  process.on("uncaughtException", listener);
});
afterAll(async () => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off("unhandledRejection", listener);
  process.off("uncaughtException", listener);
  expect(rejections).toEqual([]);
  expect(requests).not.toHaveBeenCalled();
});

const find = (objects: readonly PdfObject[], part: RegExp): PdfObject[] =>
  objects.filter(({ text }) => part.test(text));

/** Nothing of the file runs, opens or leads anywhere but to web pages. */
function inert(pdf: Buffer): PdfObject[] {
  const objects = pdfObjects(pdf);
  for (const { text } of objects) {
    const names = text.replace(/\((?:\\.|[^\\)])*\)/gs, "()");
    expect(names).not.toMatch(
      /\/(JavaScript|JS|Launch|GoToR|GoToE|SubmitForm|ImportData|OpenAction|AA|RichMedia|XFA)\b/,
    );
    const address = /\/URI \(((?:\\.|[^\\)])*)\)/s.exec(text)?.[1];
    if (address !== undefined) expect(pdfString(address)).toMatch(/^https?:\/\/[^\s"'<>]+$/);
  }
  return objects;
}

describe("chart.pdf()", () => {
  test("is a whole PDF with one page as large as the picture, 0.75 points a CSS pixel", async () => {
    const objects = inert(await saved);
    const pages = find(objects, /\/Type \/Page\n/);
    expect(pages).toHaveLength(1);
    const svg = await drawn.svg();
    const [width, height] = ["width", "height"].map(
      (name) => Number(new RegExp(`<svg[^>]* ${name}="([\\d.]+)"`).exec(svg)?.[1]) * 0.75,
    );
    expect(pages[0]?.text).toContain(`/MediaBox [0 0 ${width} ${height}]`);
  });

  test("has title and the date of the question", async () => {
    const objects = pdfObjects(await saved);
    expect(find(objects, /\/CreationDate \(D:20260501093000Z?\)/)).toHaveLength(1);
    const [metadata] = find(objects, /\/Type \/Metadata/);
    expect(metadata?.stream?.toString("utf8")).toContain("Measurements per week");
  });

  test("carries the origin as the file origin.json", async () => {
    const objects = pdfObjects(await saved);
    const [file] = find(objects, /\/Type \/EmbeddedFile/);
    expect(file?.text).toContain("/Subtype /application#2Fjson");
    expect(JSON.parse(file?.stream?.toString("utf8") ?? "")).toEqual(
      originRecord(drawn.origin, [], titleText(drawn.spec.title)),
    );
    const [spec] = find(objects, /\/Type \/Filespec/);
    expect(spec?.text).toContain("/UF (origin.json)");
    expect(spec?.text).toContain(`/UF ${file?.id} 0 R`);
  });

  test("has the same bytes each time", async () => {
    const again = chart.area(weeklyCounts(), { width: 300, height: 100 });
    expect((await saved).equals(await again.pdf())).toBe(true);
  });

  test.skipIf(popplerMissing)(
    `has text that can be selected and searched${popplerNote}`,
    async () => {
      const text = pdfText(
        await chart.area(weeklyCounts(), { title: "Łódź, Москва and שלום עולם" }).pdf(),
      );
      expect(text).toMatch(/Łódź, Москва and \W*שלום עולם/);
      expect(text).toContain("Version");
      for (const label of ["3.8.10", "3.12.0-beta", "100k", "Week from Monday (UTC)"]) {
        expect(text).toContain(label);
      }
    },
  );
});

describe("hostile data in a PDF", () => {
  const counts = (texts: readonly string[]) =>
    makeResult(
      {
        t: texts.map(() => new Date("2026-02-02T00:00:00Z")),
        name: [...texts],
        n: texts.map((_, index) => index + 1),
      },
      { dimensions: [{ name: "name", order: texts }], measures: [] },
    );
  // As many as a chart of bars takes.
  const groups = Array.from({ length: Math.ceil(PAYLOADS.length / 60) }, (_, index) =>
    PAYLOADS.slice(index * 60, index * 60 + 60),
  );

  test.each(groups.map((texts, index) => [index, texts] as const))(
    "as categories, titles, links, texts and colours, group %i",
    async (_, texts) => {
      const free = chart.vegaLite(counts(texts), {
        title: texts[0]?.slice(0, 300) ?? "",
        layer: [
          { mark: "point", encoding: { href: { field: "name" } } },
          { mark: "text", encoding: { text: { field: "name" } } },
          { mark: "bar", encoding: { color: { field: "name", scale: null } } },
        ],
        encoding: {
          x: { field: "name", type: "nominal" },
          y: { field: "n", type: "quantitative" },
        },
      });
      const bars = chart.bar(counts(texts), { x: "name", y: "n", color: null });
      for (const one of [free, bars]) inert(await one.pdf());
    },
  );

  test("a title is text in the metadata, not markup", async () => {
    const title = '</rdf:li><x a="1"/>&<script>';
    const objects = inert(await chart.area(weeklyCounts(), { title }).pdf());
    const xml = find(objects, /\/Type \/Metadata/)[0]?.stream?.toString("utf8") ?? "";
    expect(xml).toContain("&lt;/rdf:li");
    expect(xml).toContain("&amp;&lt;script");
    expect(xml).not.toMatch(/<script|<x /);
  });

  test.each([
    ["a file", 'href="/etc/passwd"'],
    ["a file address", 'xlink:href="file:///etc/passwd"'],
    ["a page", 'href="https://evil.example/x.png"'],
    ["no picture", 'href="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAAAAAA"'],
    [
      "a picture that loads",
      `href="data:image/svg+xml;base64,${Buffer.from("<svg/>").toString("base64")}"`,
    ],
  ])("an image of an SVG that is %s is refused or left out", async (_, href) => {
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="100" height="50"><image ${href} width="9" height="9"/><use href="#a"/><a href="javascript:alert(1)"><rect width="5" height="5" fill="constructor" stroke-linecap="constructor"/></a></svg>`;
    const document = {
      markup: '#set page(width: 100pt, height: 50pt, margin: 0pt)\n#image("it.svg")',
      data: {},
      pictures: new Map([["it.svg", svg]]),
      origins: new Map(),
      shown: "",
    };
    if (!href.includes("data:")) {
      await expect(typeset(document)).rejects.toThrow(/not allowed/);
      return;
    }
    const bytes = await typeset(document);
    const objects = inert(bytes);
    expect(bytes.includes("root:")).toBe(false);
    expect(objects.some(({ text }) => text.includes("/URI"))).toBe(false);
    expect(find(objects, /\/Subtype \/Image/)).toEqual([]);
  });
});
