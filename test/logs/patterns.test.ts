import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageShape } from "../../src/logs/patterns.js";
import { between } from "../../src/time/time-range.js";
import { ownDatabase } from "../support/own-database.js";
import { EPOCH, MINUTE, writeLogs, type LogRow } from "./log-rows.js";

const own = ownDatabase();

const { open } = own;
const hour = between(new Date(EPOCH), new Date(EPOCH + 60 * MINUTE));

/** A piece of a message, and what its shape must show for it: known because it was drawn as such. */
const piece: fc.Arbitrary<readonly [text: string, shape: string]> = fc.oneof(
  fc
    .constantFrom(
      "answered",
      "in",
      "ms",
      "lag",
      "[preauth]",
      '"GET',
      "/api/x",
      "it's",
      "50%",
      "\\d",
      "$n",
      "ü",
    )
    .map((word) => [word, word.replace("50", "<n>")] as const),
  fc.ipV4().map((text) => [text, "<ip>"] as const),
  fc
    .ipV6()
    .filter((text) => text !== "::" && !text.includes("."))
    .map((text) => [text, "<ip>"] as const),
  fc.nat().map((n) => [String(n), "<n>"] as const),
  fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => [`${a}.${b}`, "<n>"] as const),
  fc.uuid().map((text) => [text, "<uuid>"] as const),
  fc
    .date({ min: new Date("1971-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
    .map((date) => [date.toISOString(), "<time>"] as const),
  fc
    .stringMatching(/^[a-z][a-z0-9]{0,8}@[a-z]{1,8}\.example$/)
    .map((text) => [text, "<e-mail>"] as const),
  fc.stringMatching(/^[a-f][0-9a-f]{8,30}$/).map((text) => [text, "<id>"] as const),
  fc.stringMatching(/^[G-Zg-z]{3,20}[0-9][A-Za-z0-9]{15}$/).map((text) => [text, "<id>"] as const),
  fc
    .stringMatching(
      /^20260[1-9]1[0-9]T1[0-9]0000Z_[a-z]{1,9}_[A-Z]{2}_[1-9][0-9]{0,5}_n1_[A-Za-z0-9]{16}$/,
    )
    .map((text) => [text, "<report-id>"] as const),
  fc.stringMatching(/^[A-Z]{2}$/).map((cc) => [`probe_cc=${cc}`, "probe_cc=<cc>"] as const),
  fc.nat().map((asn) => [`probe_asn=AS${asn}`, "probe_asn=AS<n>"] as const),
);
const message = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 8 }), fc.constantFrom(" ", ", ", " ("))
  .map(([pieces, gap]) => ({
    text: pieces.map(([text]) => text).join(gap),
    shape: pieces.map(([, shape]) => shape).join(gap),
  }));

it("messageShape replaces exactly the pieces that vary", () => {
  fc.assert(
    fc.property(message, ({ text, shape }) => {
      expect(messageShape(text)).toBe(shape);
      expect(messageShape(shape)).toBe(shape);
    }),
    { numRuns: 3000, seed: 5 },
  );
});

it("patterns agrees with the plain grouping of messages by program and shape", async () => {
  const rows = fc.array(
    fc.record({
      message,
      identifier: fc.constantFrom("nginx", "sshd"),
      second: fc.nat({ max: 3599 }),
    }),
    { minLength: 1, maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      await writeLogs(
        own.writer,
        given.map((row): LogRow => ({
          micros: (EPOCH + row.second * 1000) * 1000,
          identifier: row.identifier,
          priority: 6,
          host: "api1",
          message: row.message.text,
        })),
      );
      await using lab = await open();
      const found = await lab.logs.patterns({ range: hour, limit: Infinity });
      const groups = new Map<string, typeof given>();
      for (const row of given) {
        const key = JSON.stringify([row.identifier, row.message.shape]);
        groups.set(key, [...(groups.get(key) ?? []), row]);
      }
      const wanted = new Map(
        [...groups].map(([key, own]) => {
          const seconds = own.map((row) => row.second);
          const first = Math.min(...seconds);
          return [
            key,
            {
              messages: own.length,
              first: new Date(EPOCH + first * 1000),
              last: new Date(EPOCH + Math.max(...seconds) * 1000),
              examples: own.filter((row) => row.second === first).map((row) => row.message.text),
            },
          ];
        }),
      );
      expect(found.numRows).toBe(wanted.size);
      for (const { identifier, pattern, example, ...rest } of found.rows()) {
        const { examples, ...own } = wanted.get(JSON.stringify([identifier, pattern])) ?? {};
        expect(rest).toEqual(own);
        expect(examples).toContain(example);
      }
      const sizes = found.column("messages").map(Number);
      expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    }),
    { numRuns: 60, seed: 5 },
  );
}, 300_000);

describe("patterns", () => {
  const rows = (messages: readonly string[]) =>
    messages.map((text, index): LogRow => ({
      micros: (EPOCH + index) * 1000,
      identifier: "sshd",
      priority: 6,
      host: "api1",
      message: text,
    }));

  it("says what the limit leaves out, and hides addresses in the examples when asked", async () => {
    await writeLogs(own.writer, rows(["from 203.0.113.1", "from 203.0.113.2", "bye"]));
    await using lab = await open();
    const found = await lab.logs.patterns({ range: hour, limit: 1, mask: true });
    expect(found.rows()).toEqual([
      {
        identifier: "sshd",
        pattern: "from <ip>",
        messages: 2,
        first: new Date(EPOCH),
        last: new Date(EPOCH + 1),
        example: "from [IPv4]",
      },
    ]);
    expect(found.origin.reductions).toEqual([
      "The 1 commonest of 2 patterns; they hold 2 of 3 messages.",
    ]);
  });

  it("says why there is none", async () => {
    await writeLogs(own.writer, rows(["bye"]));
    await using lab = await open();
    const none = await lab.logs.patterns({ range: hour, contains: "hello" });
    expect(none.numRows).toBe(0);
    expect(none.origin.notes[0]).toMatch(/matches the filter by contains; there are lines of sshd/);
  });
});
