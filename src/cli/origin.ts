import { Command } from "commander";
import { readFile } from "node:fs/promises";
import { originEntries, readOrigins } from "../chart/page.js";
import { inertJson, line, sqlText } from "./terminal.js";

type Origin = ReturnType<typeof readOrigins>[number];

/** `probelab origin FILE…` */
export const originCommand = new Command("origin")
  .description("print where exported charts come from: SQL, parameters, range, server, time")
  .argument("<files...>", "SVG, PNG or HTML files of charts")
  .option("--json", "print the records as JSON")
  .action(async (files: string[], flags: { readonly json?: true }) => {
    const records: { file: string; origin: Origin }[] = [];
    for (const file of files) {
      try {
        const origins = readOrigins(await readFile(file));
        records.push(...origins.map((origin) => ({ file, origin })));
        if (flags.json) continue;
        process.stdout.write(`${line(file)}\n${origins.map(originText).join("\n")}\n`);
      } catch (error) {
        process.exitCode = 1;
        const { message } = error as Error;
        process.stderr.write(`Can't read the origin of ${line(file)}: ${line(message)}\n`);
      }
    }
    if (flags.json) process.stdout.write(`${inertJson(records)}\n`);
  });

/** An origin for a reader at a terminal: the SQL whole and as it was sent, other lines cut. */
export function originText(origin: Origin): string {
  const lines = originEntries(origin).flatMap(([name, texts]) =>
    name === "SQL"
      ? ["  SQL", sqlText(texts[0] ?? "")]
      : texts.map((text, at) => `  ${(at === 0 ? name : "").padEnd(12)}${line(text)}`),
  );
  const { title } = origin;
  const head = typeof title === "string" && title !== "" ? [`  ${line(title)}`] : [];
  return `${[...head, ...lines].join("\n")}\n`;
}
