import { cleanText } from "../label.js";
import type { originRecord } from "../origin-record.js";
import { bytesWords, instantWords, jsonObject, rangeWords, serverWords } from "../origin-words.js";
import { escapeXml } from "../../base/xml.js";
import type { Json } from "../../result/json.js";

/** An origin as `originRecord` writes it. */
export type OriginRecord = ReturnType<typeof originRecord>;

/** Where a chart comes from, for a reader: SQL, parameters, range, server, rows read, reductions. */
export function originDetails(record: OriginRecord): string {
  const entries: [string, string][] = [
    ["Time", escapeXml(rangeWords(record.range))],
    ["Rows asked for", paragraph([text(record.filter)])],
    ["Source", paragraph([text(record.source), serverWords(record.server)])],
    ["Asked", askedText(record)],
    ["Left out or merged", list(record.reductions)],
    ["Notes", list(record.notes)],
    ["SQL", code(text(record.sql))],
    ["Parameters", code(parameterLines(record.parameters))],
    ["Made with", paragraph(versionTexts(record.versions))],
  ];
  const told = entries.filter(([, html]) => html !== "");
  return [
    `<details class="probelab-source"><summary>Where this comes from</summary><dl>`,
    ...told.map(([name, html]) => `<dt>${name}</dt><dd>${html}</dd>`),
    `</dl></details>`,
  ].join("");
}

function askedText({ askedAt, rowsRead, bytesRead, seconds }: OriginRecord): string {
  const parts = [
    instantWords(askedAt, "UTC"),
    typeof rowsRead === "number" && typeof bytesRead === "number"
      ? `${rowsRead.toLocaleString("en-US")} rows read (${bytesWords(bytesRead)})`
      : "",
    typeof seconds === "number" ? `${Number(seconds.toPrecision(3))} s` : "",
  ];
  return paragraph(parts);
}

function parameterLines(parameters: Json | undefined): string {
  return Object.entries(jsonObject(parameters))
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join("\n");
}

function versionTexts(versions: Json | undefined): string[] {
  return Object.entries(jsonObject(versions)).map(([name, version]) => `${name} ${text(version)}`);
}

function list(sentences: Json | undefined): string {
  if (!Array.isArray(sentences) || sentences.length === 0) return "";
  const items = sentences.map((sentence: Json) => `<li>${escapeXml(cleanText(text(sentence)))}`);
  return `<ul>${items.join("")}</ul>`;
}

function code(lines: string): string {
  if (lines.trim() === "") return "";
  // Line by line: line breaks and indentation are part of it, direction marks are spelled out.
  const clean = lines
    .split(/\r?\n/)
    .map((line) => `${/^ */.exec(line)?.[0] ?? ""}${cleanText(line)}`);
  return `<pre tabindex="0"><code>${escapeXml(clean.join("\n"))}</code></pre>`;
}

function paragraph(parts: readonly string[]): string {
  return escapeXml(cleanText(parts.filter((part) => part !== "").join(", ")));
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
