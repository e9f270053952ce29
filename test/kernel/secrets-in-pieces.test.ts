import fc from "fast-check";
import { expect, test } from "vitest";
import { keepSecret } from "../../src/base/redact.js";
import { StreamBatch, type CellOutput } from "../../src/kernel/outputs.js";

const SECRET = "Zq-pieces-5ecret";
keepSecret(SECRET);

const words = fc.constantFrom(SECRET, "hello ", "Zq", "Z", "-5", "\n", "xZq-", "ret ");
const lengths = fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 90 });

test("however a text is cut into writes, no password is shown, and all else is", () => {
  fc.assert(
    fc.property(fc.array(words, { maxLength: 5 }), lengths, (parts, cuts) => {
      const text = `<${parts.join("")}>`;
      let shown = "";
      const batch = new StreamBatch((output: CellOutput) => {
        if (output.output_type === "stream") shown += output.text;
      });
      for (let at = 0, turn = 0; at < text.length; at += cuts[turn++]!) {
        batch.write("stdout", text.slice(at, at + cuts[turn]!));
      }
      batch.flush();
      expect(shown).toBe(text.replaceAll(SECRET, "***"));
    }),
    { numRuns: 1000 },
  );
});
