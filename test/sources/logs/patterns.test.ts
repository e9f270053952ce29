import fc from "fast-check";
import { expect, it } from "vitest";
import { between } from "../../../src/index.js";
import { ownDatabase } from "../../support/own-database.js";
import { EPOCH, MINUTE, writeLogs, type LogRow } from "./log-rows.js";

const own = ownDatabase();

const { open } = own;
const hour = between(new Date(EPOCH), new Date(EPOCH + 60 * MINUTE));

/** A piece of a message, and what its shape must show for it: known because it was drawn as such. */
const piece: fc.Arbitrary<readonly [text: string, shape: string]> = fc.oneof(
  fc
    .constantFrom(..."answered in ms lag [preauth] \"GET /api/x it's 50% \\d $n ü".split(" "))
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

it('by: "pattern" groups messages by their shape', async () => {
  const line = fc.record({ message, identifier: fc.constantFrom("nginx", "sshd") });
  const given = fc.sample(line, { numRuns: 800, seed: 5 });
  const rows = given.map(({ message, identifier }, at): LogRow => {
    const micros = (EPOCH + at * 1000) * 1000;
    return { micros, priority: 6, host: "api1", identifier, message: message.text };
  });
  await writeLogs(own.writer, rows);
  await using lab = await open();
  const by = ["identifier", "pattern"] as const;
  const found = await lab.logs.rates({ range: hour, every: "all", top: Infinity, by });
  const wanted = new Map<string, number>();
  for (const { identifier, message } of given) {
    const key = `${identifier} ${message.shape}`;
    wanted.set(key, (wanted.get(key) ?? 0) + 1);
  }
  const counts = found
    .rows()
    .map(({ identifier, pattern, messages }) => [`${identifier} ${pattern}`, messages] as const);
  expect(new Map(counts)).toEqual(wanted);
});

it('by: "pattern" is the column of that name where the table has one', async () => {
  await own.writer.command(
    `CREATE OR REPLACE TABLE logs (__REALTIME_TIMESTAMP Int64, SYSLOG_IDENTIFIER String, message String, pattern String)
     ENGINE = MergeTree ORDER BY __REALTIME_TIMESTAMP`,
  );
  await own.writer.command(`INSERT INTO logs VALUES (${EPOCH * 1000}, 'a', 'm 1', 'own')`);
  await using lab = await open();
  const found = await lab.logs.rates({ range: hour, every: "all", by: "pattern" });
  expect(found.column("pattern")).toEqual(["own"]);
});
