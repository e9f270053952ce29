import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import MarkdownIt from "markdown-it";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { queryFile } from "../../../src/incident/postmortem/folder/query-file.js";
import { sha256 } from "../../../src/incident/postmortem/folder/manifest.js";
import { postmortem } from "../../../src/incident/postmortem/postmortem.js";
import { verificationText } from "../../../src/incident/postmortem/verify/verification-text.js";
import { verifyPostmortem } from "../../../src/incident/postmortem/verify/verify.js";
import { chart } from "../../../src/chart/chart.js";
import { table } from "../../../src/chart/table.js";
import { parseCsv } from "../../chart/support/parse-csv.js";
import { PAYLOADS } from "../../chart/support/payloads.js";
import { pdfObjects, pdfString } from "../../chart/support/pdf-objects.js";
import { makeResult } from "../../chart/support/sample-results.js";
import { runSqlFile } from "../../support/clickhouse-client.js";
import { hostileLinks, hostileReport } from "./hostile-report.js";

let parent = "";
let folder = "";
const NOW = "2026-05-05T10:00:00Z";

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "probelab-hostile-"));
  folder = await hostileReport().save(join(parent, "report"), { now: NOW });
}, 60_000);
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const filesOf = (at: string): string[] =>
  readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(at.length + 1))
    .sort();

describe("a postmortem of hostile texts", () => {
  test("writes its own files and no other, and is intact", async () => {
    for (const path of filesOf(folder)) {
      expect(path).toMatch(
        /^(manifest\.json|postmortem\.(md|html|pdf|json)|(charts|data|queries)\/[a-z0-9-]+\.(svg|png|csv|parquet|sql))$/,
      );
    }
    expect(readdirSync(parent)).toEqual(["report"]);
    const verification = await verifyPostmortem(folder);
    expect(verification.intact).toBe(true);

    expect(verificationText(verification)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
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

  test("the PDF runs nothing, and links lead to the web or into itself", () => {
    const objects = pdfObjects(readFileSync(join(folder, "postmortem.pdf")));
    const texts = objects.map(({ text }) => text);
    expect(
      texts.filter((text) =>
        /\/(JS|JavaScript|Launch|OpenAction|AA|SubmitForm|ImportData|GoToR|RichMedia|XFA)\b/.test(
          text.replace(/\((\\.|[^()\\])*\)/gs, "()"),
        ),
      ),
    ).toEqual([]);
    const targets = texts.flatMap((text) => /\/URI \((.*)\)/s.exec(text)?.[1] ?? []).map(pdfString);
    expect(targets.filter((target) => !/^https?:\/\/[\x21-\x7e]+$/.test(target))).toEqual([]);
    for (const link of hostileLinks)
      expect(targets).toContain(new URL(link).href.replaceAll("\\", "%5C"));
  });

  test("in CSV no cell is a formula", () => {
    for (const path of filesOf(folder).filter((each) => each.endsWith(".csv"))) {
      const cells = parseCsv(readFileSync(join(folder, path), "utf8")).flat();
      const formulas = cells.filter(
        (cell) => /^[=+\-@\t\r]/.test(cell) && !/^-?[\d.e+]+$/.test(cell),
      );
      expect(formulas, path).toEqual([]);
    }
  });

  test("links that are no web addresses are refused", () => {
    const report = postmortem({ title: "T", severity: 4, detectedAt: "2026-05-04" });
    const odd = PAYLOADS.filter((text) => text.length < 1_000 && !/^https?:\/\//.test(text));
    for (const link of [...odd, "https://", "https://[", "http://a b", "https:///"]) {
      if (link === "https:///") continue;
      expect(() => report.finding("x", link), link).toThrow(/Can't rest a statement/);
    }
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
  }, 60_000);
});

describe("credentials", () => {
  test("of addresses reach no file: in origins, words, links, captions, titles, compressed parts too", async () => {
    const url = "https://someuser:hunter2secret@db.example:8443/x?password=hunter2secret&a=1";
    const result = makeResult({ name: ["a", "b"], n: [1, 2] }, undefined, {
      sql: `SELECT * FROM url('${url}')`,
      parameters: {
        address: url,
        password: "hunter2secret",
        nested: { token: "hunter2secret", list: [url] },
      },
      source: url,
      server: url,
      notes: [`note ${url}`],
      reductions: [`cut ${url}`],
      question: { ask: "query", arguments: [`SELECT '${url}'`, { params: { address: url } }] },
    });
    const logs = result.with(makeResult({ name: [url, "b"], n: [1, 2] }).table, {
      sql: `SELECT * FROM logs`,
    });
    for (const maskAddresses of [true, false]) {
      const report = postmortem({
        title: `T ${url}`,
        severity: 4,
        detectedAt: "2026-05-04",
        authors: [url],
        leader: url,
        status: url,
        summary: url,
        impact: [`(${url})`],
        rootCauses: url,
        lucky: url,
      })
        .add(
          chart.bar(result, {
            x: "name",
            y: "n",
            title: `About ${url}`,
            subtitle: url,
            width: 200,
            height: 60,
          }),
        )
        .add(table(result, { caption: `Table of ${url}` }), { name: "rows" })
        .add(table(logs, { caption: url }), { name: "logs" })
        .finding(`Found ${url}`, url)
        .timeline("2026-05-04", url, url)
        .action({ what: url, type: url, owner: url, reference: url });
      const saved = await report.save(join(parent, `secret-${maskAddresses}`), {
        now: NOW,
        maskAddresses,
      });
      for (const path of filesOf(saved))
        expect(
          /.{0,60}(hunter2secret|someuser).{0,20}/.exec(wholeText(saved, path))?.[0],
          path,
        ).toBeUndefined();
      expect((await verifyPostmortem(saved)).intact).toBe(true);
    }
  }, 60_000);
});

/** What a file holds, also in its compressed parts. */
function wholeText(at: string, path: string): string {
  const bytes = readFileSync(join(at, path));
  const plain = bytes.toString("latin1");
  if (path.endsWith(".pdf")) {
    const parts = pdfObjects(bytes).map(
      ({ stream, text }) => `${text}${stream?.toString("latin1") ?? ""}`,
    );
    const strings = parts.flatMap((part) =>
      [...part.matchAll(/\(((?:\\.|[^()\\])*)\)/gs)].map(([, raw = ""]) => pdfString(raw)),
    );
    return [plain, ...parts, ...strings].join("\n");
  }
  if (!path.endsWith(".png"))
    return `${plain}\n${decodeURIComponent(plain.replace(/%(?![0-9a-f]{2})/gi, "%25").replace(/(?:%[89a-f][0-9a-f])+/gi, ""))}`;
  const start = bytes.indexOf("iTXtprobelab");
  const length = bytes.readUInt32BE(start - 4);
  return (
    plain +
    inflateSync(bytes.subarray(start + 4 + "probelab".length + 5, start + 4 + length)).toString()
  );
}

describe("verifyPostmortem(folder) of a folder made to harm", () => {
  type Json = Record<string, unknown>;
  const copy = (name: string, change: (at: string) => void): string => {
    const at = join(parent, name);
    cpSync(folder, at, { recursive: true });
    change(at);
    return at;
  };
  const edit = (path: string, change: (text: string) => string) => (at: string) =>
    writeFileSync(join(at, path), change(readFileSync(join(at, path), "utf8")));
  /** The manifest's hashes made right again. */
  const rehashed = (change: (at: string) => void) => (at: string) => {
    change(at);
    const manifest = JSON.parse(readFileSync(join(at, "manifest.json"), "utf8")) as { files: Json };
    for (const path of Object.keys(manifest.files)) {
      const bytes = readFileSync(join(at, path));
      manifest.files[path] = { sha256: sha256(bytes), bytes: bytes.length };
    }
    writeFileSync(join(at, "manifest.json"), JSON.stringify(manifest));
  };
  const record = (
    change: (record: { figures: { name: string; recipe: unknown }[] } & Json) => void,
  ) =>
    rehashed(
      edit("postmortem.json", (text) => {
        const value = JSON.parse(text) as { figures: { name: string; recipe: unknown }[] } & Json;
        change(value);
        return JSON.stringify(value);
      }),
    );
  const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
  const first = () => filesOf(folder).filter((path) => path.endsWith(".parquet"));

  test.each<[string, (at: string) => void]>([
    ["a figure named __proto__", record(({ figures }) => void (figures[0]!.name = "__proto__"))],
    ["a figure with a path", record(({ figures }) => void (figures[0]!.name = "../../etc/passwd"))],
    ["a figure that isn't there", record(({ figures }) => void (figures[0]!.name = "nowhere"))],
    ["no recipe", record(({ figures }) => void (figures[0]!.recipe = { unknown: [null] }))],
    ["a recipe of a text", record(({ figures }) => void (figures[0]!.recipe = "x"))],
    [
      "a recipe too deep",
      rehashed(
        edit("postmortem.json", (text) =>
          text.replace(/"recipe": \{/, `"recipe": ${deep}, "x": {`),
        ),
      ),
    ],
    [
      "a prototype",
      rehashed(
        edit("postmortem.json", (text) =>
          text.replace("{", '{"__proto__": {"title": "x"}, "constructor": 1,'),
        ),
      ),
    ],
    [
      "a link that runs",
      record(
        (value) =>
          void (value["findings"] = [{ text: "x", evidence: [{ link: "javascript:alert(1)" }] }]),
      ),
    ],
    ["half a record", edit("postmortem.json", (text) => text.slice(0, 500))],
    [
      "swapped data",
      (at) => {
        const [one = "", two = ""] = first();
        cpSync(join(folder, one), join(at, two));
      },
    ],
    [
      "swapped data with its hash",
      rehashed((at) => {
        const [one = "", two = ""] = first();
        cpSync(join(folder, one), join(at, two));
      }),
    ],
    [
      "cut data with its hash",
      rehashed((at) => {
        const [one = ""] = first();
        writeFileSync(join(at, one), readFileSync(join(folder, one)).subarray(0, 700));
      }),
    ],
    [
      "a link for a file",
      (at) => {
        rmSync(join(at, "postmortem.md"));
        symlinkSync("/dev/zero", join(at, "postmortem.md"));
      },
    ],
    [
      "a pipe for the data",
      (at) => {
        const path = join(at, first()[0] ?? "");
        rmSync(path);
        if (process.platform === "win32") writeFileSync(path, "");
        else execFileSync("mkfifo", [path]);
      },
    ],
  ])("%s: is told in a sentence", async (name, change) => {
    const verification = await verifyPostmortem(copy(name.replaceAll(" ", "-"), change));
    expect(verification.intact).toBe(false);
    const lines = verificationText(verification).trimEnd().split("\n");
    expect(lines.at(-1)).toBe("The postmortem is not as it was saved.");

    expect(
      lines.filter(
        (line) =>
          line.length > 700 || /\bat .*:\d+:\d+|[\u0000-\u001f\u007f-\u009f]|"code":/.test(line),
      ),
    ).toEqual([]);
    expect(({} as { title?: string }).title).toBeUndefined();
  });

  test.each<[string, (text: string) => string]>([
    ["a path", (text) => text.replace('"postmortem.md"', '"data/../../../etc/passwd.md"')],
    ["an absolute path", (text) => text.replace('"postmortem.md"', '"/etc/passwd"')],
    ["a backslash", (text) => text.replace('"postmortem.md"', '"data\\\\..\\\\x.md"')],
    ["too deep", () => deep],
    ["nothing", () => ""],
    ["a list", () => "[]"],
  ])("a manifest with %s is refused", async (name, change) => {
    const at = copy(`manifest-${name.replaceAll(" ", "-")}`, edit("manifest.json", change));
    await expect(verifyPostmortem(at)).rejects.toThrow(
      /^Can't read manifest\.json of ".*": it is no manifest that this probelab writes; restore the file, or use the version that wrote it\.$/,
    );
  });

  test("a manifest that is a link to a device is none", async () => {
    const at = copy("manifest-link", (to) => {
      rmSync(join(to, "manifest.json"));
      symlinkSync("/dev/zero", join(to, "manifest.json"));
    });
    await expect(verifyPostmortem(at)).rejects.toThrow(/has no manifest\.json/);
    expect(existsSync(join(at, "postmortem.md"))).toBe(true);
  });

  test("a title with an escape sequence reaches no terminal", async () => {
    const at = copy(
      "escape",
      edit("manifest.json", (text) =>
        text.replace(/"title": ".*?[^\\]"/, '"title": "\\u001b[2J\\u009b31m\\u202eevil"'),
      ),
    );

    expect(verificationText(await verifyPostmortem(at))).not.toMatch(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/,
    );
  });
});
