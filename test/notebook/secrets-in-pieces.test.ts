import fc from "fast-check";
import { expect, test } from "vitest";
import { keepSecret } from "../../src/base/redact.js";
import { StreamBatch, type CellOutput } from "../../src/notebook/outputs.js";

const SECRET = "Zq-pieces-5ecret";
keepSecret(SECRET);

const words = fc.constantFrom(SECRET, "hello ", "Zq", "Z", "-5", "\n", "xZq-", "ret ");
const cut = fc.record({
  length: fc.integer({ min: 1, max: 10 }),
  end: fc.integer({ max: 9, min: 0 }),
});

test("however a text is cut into writes and cells, no five characters of a password are shown, and all else is", () => {
  fc.assert(
    fc.property(
      fc.array(words, { maxLength: 5 }),
      fc.array(cut, { minLength: 90 }),
      (parts, cuts) => {
        const text = `<${parts.join("")}>`;
        let shown = "";
        const sink = (output: CellOutput) =>
          void (output.type === "stream" && (shown += output.text));
        let cell = new StreamBatch(sink);
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const { length, end } = cuts[turn]!;
          cell.put({ type: "stream", name: "stdout", text: text.slice(at, at + length) });
          at += length;
          if (end < 4) cell.flush(); // A display, or the end of the cell.
          if (end < 2) cell = new StreamBatch(sink);
        }
        cell.flush();
        const rest = text.replaceAll(SECRET, "");
        for (let at = 0; at + 5 <= SECRET.length; at++) {
          const piece = SECRET.slice(at, at + 5);
          if (!rest.includes(piece)) expect(shown).not.toContain(piece);
        }
        if (rest === text) expect(shown).toBe(text);
      },
    ),
    { numRuns: 1000 },
  );
});
