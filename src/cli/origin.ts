import { Command } from "commander";
import { readFile } from "node:fs/promises";
import { ProbelabError } from "../base/error.js";
import { originEntries, readOrigins } from "../chart/page.js";
import type { Json } from "../result/json.js";
import { inertJson, line, sqlText } from "./terminal.js";

/** `probelab origin FILE…` */
export const originCommand = new Command("origin")
  .description("print where exported charts come from: SQL, parameters, range, server, time")
  .argument("<files...>", "SVG, PNG or HTML files of charts")
  .option("--json", "print the records as JSON")
  .action(async (files: string[], flags: { readonly json?: true }) => {
    const records: { file: string; origin: Readonly<Record<string, Json>> }[] = [];
    for (const file of files) {
      try {
        const origins = readOrigins(await content(file));
        records.push(...origins.map((origin) => ({ file, origin })));
        if (flags.json) continue;
        process.stdout.write(`${line(file)}\n${origins.map(originText).join("\n")}\n`);
      } catch (error) {
        if (!(error instanceof ProbelabError)) throw error;
        process.exitCode = 1;
        process.stderr.write(`Can't read the origin of ${line(file)}: ${error.message}\n`);
      }
    }
    if (flags.json) process.stdout.write(`${inertJson(records)}\n`);
  });

async function content(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "there is no such file" : `it can't be read (${code})`;
    throw new ProbelabError(`${reason}; pass the exported file itself.`, { cause: error });
  }
}

/**
 * An origin for a reader at a terminal: the SQL whole and as it was sent, anything else cut to 2,000
 * characters a line. What would steer the terminal is spelled out.
 */
export function originText(origin: Readonly<Record<string, Json>>): string {
  const lines = originEntries(origin).flatMap(([name, texts]) =>
    name === "SQL"
      ? ["  SQL", sqlText(texts[0] ?? "")]
      : texts.map((text, at) => `  ${(at === 0 ? name : "").padEnd(12)}${line(text)}`),
  );
  const { title } = origin;
  const head = typeof title === "string" && title !== "" ? [`  ${line(title)}`] : [];
  return `${[...head, ...lines].join("\n")}\n`;
}
