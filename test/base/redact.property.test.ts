import fc from "fast-check";
import { expect, it } from "vitest";
import { hideSecrets, keepSecret, redact } from "../../src/base/redact.js";

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" },
};
const html = (text: string) => text.replace(/[&<>"']/g, (each) => ENTITIES[each]!);
const cut = (text: string, between: string) => {
  const characters = Array.from(text);
  return characters.slice(0, 3).join("") + between + characters.slice(3).join("");
};

/** How programs write a text into another. */
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  "as it is": (text) => text,
  "HTML, named": html,
  "HTML, decimal": (text) => Array.from(text, (each) => `&#${each.codePointAt(0)};`).join(""),
  "HTML, hexadecimal": (text) =>
    Array.from(text, (each) => `&#x${each.codePointAt(0)!.toString(16).toUpperCase()};`).join(""),
  "HTML of HTML": (text) => html(html(text)),
  JSON: (text) => JSON.stringify(text).slice(1, -1),
  "JSON of JSON": (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  "JSON in a script": (text) =>
    JSON.stringify(text)
      .slice(1, -1)
      .replace(/[<>&']/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`),
  CSV: (text) => text.replaceAll('"', '""'),
  "SQL, doubled": (text) => text.replaceAll("'", "''"),
  "SQL, backslashes": (text) => text.replace(/['\\]/g, "\\$&"),
  URL: (text) => encodeURIComponent(text),
  "URL in small letters": (text) =>
    encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  "URL of a URL": (text) => encodeURIComponent(encodeURIComponent(text)),
  "a form": (text) => new URLSearchParams({ "": text }).toString().slice(1),
  base64: (text) => Buffer.from(text).toString("base64"),
  base64url: (text) => Buffer.from(text).toString("base64url"),
  hex: (text) => Buffer.from(text).toString("hex"),
  "with a colour inside": (text) => cut(text, "\u001b[31m"),
  "with a line break inside": (text) => cut(text, "\n  "),
};

const PRINTABLE = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at));
const password = fc
  .array(fc.constantFrom(...PRINTABLE, "é", "ß", "€", "𝒳"), { minLength: 8, maxLength: 20 })
  .map((characters) => characters.join(""))
  .filter((text) => text.trim() === text && new Set(text).size > 4);

it.each(Object.entries(FORMS))("takes a password out that is written as %s", (_, form) => {
  fc.assert(
    fc.property(password, (secret) => {
      keepSecret(secret, "ann");
      const written = form(secret);
      for (const text of [written, `before ${written} after`, `"${written}"`]) {
        for (const hidden of [hideSecrets(text), redact(text)]) {
          expect(hidden).not.toContain(written);
          expect(hidden).toContain("***");
        }
      }
    }),
    { numRuns: 40, seed: 6 },
  );
});

it("leaves other texts as they are", () => {
  keepSecret("it's-secret-9");
  expect(hideSecrets("it's no secret; it&#39;s 9 %27s")).toBe("it's no secret; it&#39;s 9 %27s");
});
