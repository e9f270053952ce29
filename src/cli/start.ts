import { Command } from "commander";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ProbelabError } from "../base/error.js";
import { nearName } from "../base/near-name.js";
import { openWriter } from "../database/writer.js";
import { findSource } from "../database/settings.js";
import type { Writer } from "../database/writer.js";
import { grouped } from "../base/text.js";
import { fillSample } from "../sample/fill.js";
import { GENERATOR, isLoaded, listTables, sampleInfo } from "../sample/tables.js";
import { runPrinted } from "./run.js";
import { progressEverySecond, userInterrupt, wholeNumber } from "./terminal.js";
import { DAY } from "../time/span.js";

/** A sample that ends longer ago is made anew, so that `last("3 months")` finds rows in it. */
const OLDEST_DAYS = 7;

/** The notebooks that come with the package. */
const NOTEBOOKS = fileURLToPath(new URL("../../notebooks/", import.meta.url));

interface Flags {
  readonly out: string;
  readonly rows: number;
}

/** `probelab start`, which `npm start` calls: a notebook of the package, from rows to charts. */
export const startCommand = new Command("start")
  .description("run a notebook of the package; an embedded database that is empty is filled first")
  .argument("[name]", "the notebook", "measurement-drop")
  .option("--out <dir>", "folder for the executed notebook, its page and the charts", "out")
  .option("--rows <n>", "measurements of a sample that has to be made", wholeNumber, 5_000_000)
  .action(start);

async function start(name: string, { out, rows }: Flags): Promise<void> {
  const names = (await readdir(NOTEBOOKS)).map((file) => file.replace(/\.ipynb$/, ""));
  if (!names.includes(name)) {
    const near = nearName(name, names);
    throw new ProbelabError(
      `Can't start "${name}": the package has no notebook of that name. ${near ? `Did you mean ${near}?` : `There are ${names.join(", ")}.`}`,
    );
  }
  const path = join(NOTEBOOKS, `${name}.ipynb`);
  using interrupt = userInterrupt();
  const source = findSource("measurements");
  await using writer = source.kind === "embedded" ? await openWriter(source) : null;
  try {
    if (writer !== null) await fillIfEmpty(writer, rows, interrupt.signal);
    interrupt.signal.throwIfAborted();
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    console.error("Interrupted: the notebook was not run; the same command begins anew.");
    process.exitCode = 130;
    return;
  }
  console.error(`Running ${relative("", path)} on ${source.label}`);
  const outcome = await runPrinted(path, { out }, interrupt.signal);
  if (interrupt.signal.aborted || outcome.status !== "ok") return;
  console.log(
    [
      `Done in ${outcome.seconds.toFixed(1)} s. Open`,
      `  ${relative("", outcome.page)}   the investigation, with its charts`,
      `  ${relative("", outcome.notebook)}  the same as a notebook`,
      `  ${relative("", out) || "."}   all that it saved`,
    ].join("\n"),
  );
}

async function fillIfEmpty(writer: Writer, rows: number, signal: AbortSignal): Promise<void> {
  const info = await sampleInfo(writer);
  const oldest = Date.now() - OLDEST_DAYS * DAY;
  if (info !== null && info.generator === GENERATOR && info.end.getTime() > oldest) return;
  if ((await listTables(writer)).some(isLoaded)) return;
  const began = performance.now();
  const why = info === null ? "It is empty" : "Its sample has grown old";
  console.error(`${writer.source}: ${why}, filling it with the sample service`);
  const made = await fillSample(writer, { rows, signal, onProgress: progressEverySecond() });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.error(`  ${grouped(made.rows)} measurements in ${seconds} s`);
}
