import { Command } from "commander";
import { readFile, stat } from "node:fs/promises";
import { readOrigins, type FoundOrigin } from "../render/origin/read-origins.js";
import { ProbelabError } from "../base/error.js";
import { originEntries } from "../render/origin/origin-words.js";
import { inertJson, line, sqlText } from "./terminal.js";

/** Larger than any export; the whole file is held in memory. */
const LARGEST = 256 * 1024 * 1024;

/** Where the command writes to. */
export interface OriginOutput {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

const INDENT = "  ";

/** `probelab origin FILE…` */
export const originCommand = new Command("origin")
  .description("print where exported charts come from: SQL, parameters, range, server, time")
  .argument("<files...>", "SVG, PNG, PDF, HTML, JSON, Parquet or notebook files of charts")
  .option("--json", "print the records as JSON")
  .action(async (files: string[], flags: { readonly json?: true }) => {
    process.exitCode = await runOrigin(files, flags, {
      out: (text) => process.stdout.write(text),
      err: (text) => process.stderr.write(text),
    });
  });

/** Prints the origins in each file; gives the exit code: 1 when any file has none. */
export async function runOrigin(
  files: readonly string[],
  flags: { readonly json?: true },
  { out, err }: OriginOutput,
): Promise<number> {
  const records: ({ file: string } & FoundOrigin)[] = [];
  let code = 0;
  for (const file of files) {
    try {
      const origins = readOrigins(await content(file));
      records.push(...origins.map((origin) => ({ file, ...origin })));
      if (!flags.json) out(`${line(file)}\n${origins.map(originText).join("\n")}\n`);
    } catch (error) {
      if (!(error instanceof ProbelabError)) throw error;
      code = 1;
      err(`Can't read the origin of ${line(file)}: ${error.message}\n`);
    }
  }
  if (flags.json) out(`${inertJson(records)}\n`);
  return code;
}

async function content(path: string): Promise<Buffer> {
  try {
    // Opening a pipe would wait for who writes into it.
    const about = await stat(path);
    if (!about.isFile()) throw new ProbelabError("it is no file; give the exported file itself.");
    if (about.size > LARGEST) {
      throw new ProbelabError("it is larger than 256 MiB, which no exported chart is.");
    }
    return await readFile(path);
  } catch (error) {
    if (error instanceof ProbelabError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    throw new ProbelabError(
      code === "ENOENT"
        ? "there is no such file; check the path."
        : `it can't be opened (${code ?? String(error)}); check its permissions.`,
      { cause: error },
    );
  }
}

/**
 * Where a chart comes from, for a reader at a terminal: the SQL whole and as it was sent, anything
 * else cut to 2,000 characters a line. What would steer the terminal is spelled out.
 */
export function originText({ title, origin }: FoundOrigin): string {
  const entries = originEntries(origin).flatMap(([name, texts]) =>
    name === "SQL"
      ? [`${INDENT}SQL`, sqlText(texts[0] ?? "")]
      : texts.map(
          (text, index) =>
            `${INDENT}${(index === 0 ? line(name, 20) : "").padEnd(12)}${line(text)}`,
        ),
  );
  return `${[...(title === undefined ? [] : [`${INDENT}${line(title)}`]), ...entries].join("\n")}\n`;
}
