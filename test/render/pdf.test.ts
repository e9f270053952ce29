import { expect, test, vi } from "vitest";
import { typeset } from "../../src/render/pdf.js";
import { pdfObjects, pdfString, type PdfObject } from "../chart/support/pdf-objects.js";

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
  const requests = vi.spyOn(globalThis, "fetch");
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
  expect(requests).not.toHaveBeenCalled();
});
