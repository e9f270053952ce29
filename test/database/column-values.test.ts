import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Database } from "../../src/database/database.js";
import { freeQueries } from "../../src/query/free-query.js";
import { between, type Value } from "../../src/index.js";
import { ownDatabase } from "../support/own-database.js";

const own = ownDatabase();
const range = between("2026-05-01", "2026-05-02");
let database: Database;

beforeAll(async () => {
  database = await Database.open(own.source);
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

function query(select: string, from = "numbers(1)") {
  const sql = `SELECT ${select} FROM ${from} WHERE {start:DateTime64(3)} < {end:DateTime64(3)}`;
  return freeQueries(database)(sql, { range });
}

/** The values of a column, and what the engine itself writes for the same values. */
async function both(value: string, write: string, from?: string): Promise<[Value[], string[]]> {
  const result = await query(`${value} AS v, ${write}(v) AS written`, from);
  return [result.column("v"), result.column("written") as string[]];
}

/** A value as toJSONString writes it. */
function json(value: Value): string {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Date) return `"${value.toISOString().slice(0, 19).replace("T", " ")}"`;
  if (Array.isArray(value)) return `[${value.map(json).join(",")}]`;
  if (typeof value !== "object" || value === null) {
    return JSON.stringify(value).replaceAll("/", "\\/");
  }
  const entries = Object.entries(value).map(([name, each]) => `"${name}":${json(each as Value)}`);
  return `{${entries.join(",")}}`;
}

const UUID = "toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0')";

describe("the values of lab.query", () => {
  it.each([
    UUID,
    `toNullable(${UUID})`,
    `toLowCardinality(${UUID})`,
    "toIPv4('192.0.2.1')",
    "toIPv6('2001:db8::1')",
    "toIPv6('::ffff:192.0.2.1')",
    "toFixedString('ab', 4)",
    "toFixedString('abcd', 4)",
    "toFixedString(unhex('61006200'), 4)",
    "toFixedString('', 4)",
    "CAST('ab' AS LowCardinality(Nullable(FixedString(3))))",
    "CAST('it\\'s\\n\\\\n' AS Enum8('it\\'s\\n\\\\n' = -1, 'b, (c' = 2))",
    "anyLastSimpleState(CAST('b' AS Enum16('a' = 1, 'b' = 300)))",
    `anyLastSimpleState(${UUID})`,
    "toInt64('-9223372036854775808')",
    "toUInt64('18446744073709551615')",
    "toUInt64(9007199254740991)",
    "toUInt64(9007199254740993)",
    "toIntervalDay(3)",
    "toDecimal32('-1.25', 2)",
    "toDecimal64('123456789.375', 3)",
  ])("%s is what ClickHouse's toString writes", async (value) => {
    const [values, written] = await both(value, "toString");
    expect(values.map(String)).toEqual(written);
    expect(typeof values[0]).not.toBe("object");
  });

  it.each([
    "[toUInt8(1), 2]",
    "CAST([1, NULL] AS Array(Nullable(Int16)))",
    "[1.5, 2]",
    "[true, false]",
    "CAST([] AS Array(UUID))",
    `[${UUID}, NULL]`,
    "[toDateTime('2026-05-01 00:00:00', 'UTC'), NULL]",
    "[[toDateTime('2026-05-01 00:00:00', 'UTC')], []]",
    "[toIPv4('192.0.2.1')]",
    "[toIPv6('::1')]",
    "[CAST('b' AS Enum8('a' = 1, 'b' = 2))]",
    "[toFixedString('abcd', 4)]",
    "CAST(['a', NULL] AS Array(LowCardinality(Nullable(String))))",
    "[toUInt64(18446744073709551615), 1]",
    `tuple(1, ${UUID})`,
    `CAST((1, ${UUID}) AS Tuple(number UInt8, \`an id, (quoted\` Nullable(UUID)))`,
    "tuple(toDateTime('2026-05-01 00:00:00', 'UTC'), [toUInt64(1)])",
    "tuple()",
    `map('a', ${UUID}, '__proto__', NULL)`,
    "map('a', map(toUInt64(18446744073709551615), [toIPv6('::1')]))",
    "CAST([(1, 'a'), (2, 'b')] AS Nested(n UInt8, s String))",
  ])("%s is what ClickHouse's toJSONString writes", async (value) => {
    const [values, written] = await both(value, "toJSONString");
    expect(values.map(json)).toEqual(written);
  });

  it.each([
    "CAST('-01:02:03' AS Time)",
    "[CAST(1 AS Time64(3))]",
    "CAST(1.5 AS BFloat16)",
    "toInt128(7)",
    "[toUInt256(7)]",
  ])("%s is refused", async (value) => {
    await expect(query(`${value} AS v`)).rejects.toThrow("give it as text, toString(v)");
  });

  it("texts that are no UTF-8 are told apart, each wrong byte as \\xff", async () => {
    const bytes = "unhex(['61ff', '61fe', 'e282', 'e282ac80', 'c3', 'a9', 'efbbbfff'][number + 1])";
    const texts = ["a\\xff", "a\\xfe", "\\xe2\\x82", "€\\x80", "\\xc3", "\\xa9", "\ufeff\\xff"];
    const forms = `${bytes} AS plain, toLowCardinality(plain) AS code, toNullable(plain) AS maybe, [plain] AS list, toFixedString(plain, 8) AS fixed`;
    const result = await query(forms, "numbers(7)");
    for (const name of ["plain", "code", "maybe", "fixed"]) {
      expect(result.column(name), name).toEqual(texts);
    }
    expect(result.column("list").flat()).toEqual(texts);
  });

  it("integers of 64 bits are bigint throughout a column where one is beyond 2^53", async () => {
    const rows = "arrayJoin([9007199254740991, 9007199254740992])";
    const columns = `[x, 1] AS list, if(x > 9007199254740991, NULL, x) AS maybe`;
    const result = await query(columns, `(SELECT toUInt64(${rows}) AS x)`);
    expect(result.column("list")).toEqual([
      [9007199254740991n, 1n],
      [9007199254740992n, 1n],
    ]);
    expect(result.column("maybe")).toEqual([9007199254740991, null]);
  });

  it("a column's kind is that of its values", async () => {
    const columns = {
      [UUID]: "text",
      "toIPv6('::1')": "text",
      "toFixedString('a', 2)": "text",
      "toIntervalDay(3)": "number",
      "maxSimpleState(toDateTime('2026-05-01 00:00:00', 'UTC'))": "time",
      "maxSimpleState(number)": "number",
      "[toDateTime('2026-05-01 00:00:00', 'UTC')]": "text",
    };
    const result = await query(
      Object.keys(columns)
        .map((sql, at) => `${sql} AS c${at}`)
        .join(", "),
    );
    expect(Object.values(result.origin.columns.kinds ?? {})).toEqual(Object.values(columns));
  });
});
