import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import MarkdownIt from "markdown-it";
import { beforeAll, describe, expect, test } from "vitest";
import { queryFile } from "../../src/incident/query-file.js";
import { PAYLOADS } from "../chart/support/payloads.js";
import { makeResult } from "../chart/support/sample-results.js";
import { runSqlFile } from "../support/clickhouse-client.js";
import { ownFolder } from "../support/temporary-directory.js";
import { checkHashes, filesOf } from "./folder.js";
import { hostileLinks, hostileReport } from "./hostile-report.js";

const parent = ownFolder();
let folder = "";
const NOW = "2026-05-05T10:00:00Z";

beforeAll(async () => {
  folder = await hostileReport().save(join(parent, "report"), { now: NOW });
}, 240_000);

describe("a postmortem of hostile texts", () => {
  test("writes its own files and no other, and is intact", () => {
    for (const path of filesOf(folder)) {
      expect(path).toMatch(
        /^(\.gitattributes|SHA256SUMS|postmortem\.(md|html|json)|(charts|data|queries)\/[a-z0-9-]+\.(svg|png|csv|parquet|sql))$/,
      );
    }
    expect(readdirSync(parent)).toEqual(["report"]);
    checkHashes(folder);
  });

  test("in Markdown, HTML on and off, nothing begins that is not the document's own", () => {
    const markdown = readFileSync(join(folder, "postmortem.md"), "utf8");
    for (const html of [true, false]) {
      const tokens = new MarkdownIt({ html, linkify: true }).parse(markdown, {});
      const inner = tokens.flatMap((token) => token.children ?? []);
      const kinds = new Set([...tokens, ...inner].map(({ type }) => type));
      expect(
        [...kinds].filter((kind) =>
          /html|code|fence|^hr|blockquote|^em_|^strong_|^s_open|ordered/.test(kind),
        ),
      ).toEqual([]);
      const images = inner
        .filter(({ type }) => type === "image")
        .map((one) => String(one.attrGet("src")));
      expect(images.filter((src) => !/^charts\/[a-z0-9-]+\.png$/.test(src))).toEqual([]);
      const links = inner.filter(({ type }) => type === "link_open");
      const strange = links
        .filter(({ info }) => info !== "auto")
        .map((one) => String(one.attrGet("href")))
        .filter((href) => !/^((charts|data|queries)\/[a-z0-9-]+\.\w+|#figure-\d+)$/.test(href))
        .filter((href) => !/^https?:\/\/[^\s"<>\\]+$/.test(href));
      expect(strange).toEqual([]);
      // What a reader links by itself shows where it leads.
      for (const one of links.filter(({ info }) => info === "auto"))
        expect(String(one.attrGet("href"))).toMatch(/^((https?:)?\/\/|mailto:)/);
      const own = links.map((one) => String(one.attrGet("href")));
      for (const link of hostileLinks)
        expect(own).toContain(
          new MarkdownIt().normalizeLink(new URL(link).href.replaceAll("\\", "%5C")),
        );
    }
    const headings = markdown.split("\n").filter((line) => /^#{1,6} /.test(line));
    expect(headings.filter((line) => /^### (?!Figure \d+$)/.test(line))).toEqual([]);
  });
});

describe("queries/*.sql", () => {
  test("hostile titles, notes and parameters stay in comments and quotes, in the real engine", () => {
    const texts = PAYLOADS.filter((text) => text.length < 1_000 && !/[\ud800-\udfff]/.test(text));
    const names = texts.map((_, at) => `p${at}`);
    const sql = `SELECT ${names.map((name) => `{${name}:String} AS ${name}`).join(", ")}, {list:Array(String)} AS list -- ends`;
    const { origin } = makeResult({ n: [1] }, undefined, {
      sql,
      parameters: { ...Object.fromEntries(texts.map((text, at) => [`p${at}`, text])), list: texts },
      notes: texts,
      reductions: texts.map((text) => `${text}\n; SELECT 'broken' AS broken; --`),
      server: texts.join("\n"),
      source: "x\u2028\nSELECT 1;",
    });
    const shown = texts.map((text) => text.replace("user:hunter2@", ""));
    const rows = runSqlFile(queryFile(`title\n${texts.join("\n")}`, origin), parent);
    rmSync(join(parent, "query.sql"));
    rmSync(join(parent, "query.out"));
    expect(rows).toHaveLength(1);
    expect(names.map((name) => rows[0]?.[name])).toEqual(shown);
    expect(rows[0]?.["list"]).toEqual(shown);
  }, 240_000);
});
